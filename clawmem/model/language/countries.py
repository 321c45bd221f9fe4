"""The names of countries and of larger parts of the world, lower case: a home in one is no other than in its city."""

_SINGLE = """
afghanistan albania algeria andorra angola argentina armenia australia austria azerbaijan bahamas bahrain bangladesh
barbados belarus belgium belize benin bhutan bolivia botswana brazil britain brunei bulgaria burundi cambodia cameroon
canada chad chile china colombia comoros croatia cuba cyprus czechia denmark djibouti dominica ecuador egypt england
eritrea estonia eswatini ethiopia fiji finland france gabon gambia georgia germany ghana greece greenland grenada
guatemala guinea guyana haiti honduras hungary iceland india indonesia iran iraq ireland israel italy jamaica japan
jordan kazakhstan kenya kiribati kosovo kuwait kyrgyzstan laos latvia lebanon lesotho liberia libya liechtenstein
lithuania luxembourg madagascar malawi malaysia maldives mali malta mauritania mauritius mexico micronesia moldova
monaco mongolia montenegro morocco mozambique myanmar namibia nauru nepal netherlands nicaragua niger nigeria norway
oman pakistan palau palestine panama paraguay peru philippines poland portugal qatar romania russia rwanda samoa
scotland senegal serbia seychelles singapore slovakia slovenia somalia spain sudan suriname sweden switzerland syria
taiwan tajikistan tanzania thailand togo tonga tunisia turkey turkmenistan tuvalu uganda ukraine uruguay uzbekistan
vanuatu venezuela vietnam wales yemen zambia zimbabwe uk usa us uae holland europe africa asia scandinavia america
"""
_SEVERAL = """
antigua and barbuda, bosnia and herzegovina, burkina faso, cape verde, central african republic, costa rica, czech
republic, democratic republic of the congo, dominican republic, east timor, el salvador, equatorial guinea, great
britain, hong kong, ivory coast, marshall islands, new zealand, north korea, north macedonia, northern ireland, papua
new guinea, puerto rico, republic of the congo, saudi arabia, sierra leone, solomon islands, south africa, south korea,
south sudan, sri lanka, trinidad and tobago, united arab emirates, united kingdom, united states, united states of
america, vatican city, north america, south america, latin america, central america, southeast asia, middle east
"""
COUNTRIES = frozenset(_SINGLE.split()) | frozenset(" ".join(_SEVERAL.split()).split(", "))
