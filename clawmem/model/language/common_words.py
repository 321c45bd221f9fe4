"""Words that, with a space before them, are one token of the cl100k_base vocabulary: its 4,000 most frequent ones."""

from __future__ import annotations

COMMON_WORDS = frozenset(
    """
Ab About Ac Access According Account Act Action Active Ad Add Address Admin Aff Afr Africa After Ag Air Al Alex All
Also Although Am Amazon Americ America American Americans An And Android Ang Ange Ann Ant Any Ap Apache App Apple
Application Apr April Ar Arab Arch Are Arg Array Art As Ass Assert Associ Association At Atl Att Aug August Austral
Australia Aut Auth Author Auto Av Back Bank Bar Base Bay Be Because Bel Ben Ber Best Big Bill Bit Bl Black Block
Blue Bo Board Book Boolean Boston Box Br Brit British Bro Brown Buffer Build Business But Button By Byte Cal
California Call Cam Camp Can Canada Cap Car Card Care Carol Cas Category Cent Center Central Ch Change Char Che
Check Chicago Child China Chinese Christ Christian Christmas Church City Cl Class Clean Click Client Clinton Club Co
Code Col College Color Colors Column Com Comm Command Commission Commit Committee Common Company Component Con
Config Cong Congress Connection Cons Console Cont Contact Container Content Context Control Controller Convert
Copyright Cor Core Corpor Council Count County Cour Court Cr Cre Create Created Cup Current Custom Data Database
Date Dav David Day De Dec December Def Default Del Delete Dem Democr Den Dep Department Des Description Design Dev
Develop Development Di Dictionary Die Dim Direct Director Dis Display District Div Do Don Donald Double Down
Download Dr Each Ear Earth East Ed Edge Edit Educ El Elect Element Em Email En Enc End Eng Engine England English
Ent Entity Ep Er Error Es Est Europe European Ev Even Event Every Ex Exception Exec Exp Ext Facebook False Fe
February Field File Fin Find Fire First Fl Flor Florida Font For Fore Form Fort Foundation Fr Franc France Frank Fre
Free French Friday From Full Function Gal Game Ge Gen Gener General George German Germany Get Gets Gl Global Go God
Gold Good Google Govern Government Gr Grand Great Green Grid Group Gu Hall Ham Hand Har Hash He Health Her Here High
Hill His Home Hot House How However Http Hy Id If Il Illuminate Im Image In Inc Ind Index India Indian Information
Initial Initialize Initialized Input Ins Inst Institute Int Integer Intent Inter Intern International Internet Iran
Is Isl Island Israel It Item Jack James Jan January Japan Japanese Java Jer Jes Jesus Jew Jo John Jose Journal Json
Jul July June Just Ke Key King Kore La Label Last Lat Law Le League Leg Less Let Level Lib License Licensed Life
Light Like Lin Line Link List Lo Load Local Location Log Logger Login London Long Look Lord Los Lou Love Mac Mad Mag
Main Make Mal Man Management Manager Many Map Mar March Mark Market Mart Mary Mass Master Mat Material Math Max May
Maybe Mc Me Med Media Mel Men Menu Mer Message Met Method Mex Mich Michael Microsoft Mil Mill Min Minister Miss Mo
Mod Model Mon Monday Mont Mor More Most Mount Mr Mus Music Muslim My Name National Ne Net Network New News Next No
Node None Nor North Not Note Nov November Now Number Ob Obama Object Oct October Of Off Office Oh Ok Old On Once One
Online Only Op Open Oper Option Or Order Organ Other Our Out Output Over Page Pal Pan Par Param Park Part Party Pass
Pat Path Paul Pe People Per Person Peter Ph Phil Photo Pl Place Plan Play Player Please Point Pol Police Policy Pop
Port Post Power Pr Pre Pres President Press Price Print Private Pro Process Product Prof Program Project Promise
Prop Property Public Put Py Qt Qu Que Random Re React Read Real Rec Red Ref Reg Register Rel Rem Remove Rep Report
Republic Republican Request Res Research Response Rest Result Ret Return Returns Rev Review Rich Right Rights River
Road Rob Robert Rock Room Route Router Row Roy Run Runtime Russ Russia Russian Sal Sam San Sand Saturday Save Sc Sch
School Science Scott Se Search Sec Second Secret Security See Select Self Sen Senate Send Sept September Ser Server
Service Services Session Set Sex Sh She Short Show Sie Sign Sil Sim Simple Since Sing Size Sk Sl Sm Smith So Social
Software Some Sou Source South Sp Spec Special Sql St Star Start State States Status Ste Store Str Stream Street
String Stud Sub Sum Sun Sunday Sup Super Support Sur Sw Sy System Table Task Te Team Techn Tem Ter Test Texas Text
Th Thank That The Their Then There These They This Thom Thread Thursday Tim Time Times Title To Toast Token Tom Top
Tor Total Tr Trans Tree True Trump Try Tuesday Tur Twitter Two Type Un Under Union Unit United University Unless Up
Update Us Use User Util Val Valid Value Var Vector Ver Version Video View Vir Vis Vol Wall War Wash Washington Watch
Water We Web Wed Wednesday Week Well West Western Wh What When Where While White Who Why Wil Will Windows With Women
Word Work World Write Year Yes York You Your Ze ab ability able about above abs absolute absolutely abstract ac acad
acc accept access accom according account accounts accur achie ack across act action actions activ active activities
activity actual actually ad adapt add added adding addition additional addr address adjust admin administration
adopt adult adv advanced advant advantage advert advice advis af aff affect afford after ag again against age agency
agent ago agre agree agreed agreement ahead aim air al album alert align all alleg alleged alloc allow allowed
allowing allows almost alone along alpha already als also alt altern alternative although always am amazing amb
among amount an anal analy analysis and android androidx ang angle anim animal animals animation ann announc
announced annual another ans answer ant anti any anyone anything ap apart api app apparent appe appear appeared
appears append applic applicable application applications applied apply appoint apprec appro approach appropri
appropriate approx apps ar arch are area areas aren arg args argument arguments argv aria arm around arr array
arrest art article articles artist as ask asked asking ass assert assess asset assign assist associ associated assum
assume async at att attack attacks attempt attend attention attr attract attribute attributes au auch aud audience
audio auf aus aut auth author auto autom automatically aux av available avec average avoid aw await award aware away
ax axis baby back background bad bag bal balance ball ban band bank bar bas base based basic basis batch bath batter
battle be beat beaut beautiful became because become becomes becoming bed been before beg began begin beginning beh
behavior behind being bel belie believe belong below ben benef benefit benefits ber bes best bet better between bey
beyond bg bi big biggest bill billion bin binary bind binding birth bit bits bl black blank block blocks blog blood
blue bo board body bon bond book books bool boolean boost boot border born bot both bott bottom bought bound box boy
br brain branch brand bre break brief bright bring bro broad broken brother brought browser btn bu budget buf buffer
bug build builder building built bul bund bur burn bus business businesses but button buy by byte bytes ca cache cal
calc calcul calculate call callback called calling calls cam came camera camp campaign can cancel cancer candid
candidate cannot canvas cap capacity capital capt car card cards care career carry cars cart cas case cases cash
cast cat catch category caught cause caused cb ce cele celebr cell cells cent center central century cer cert
certain certainly ch chain chair chall challeng challenge chance chang change changed changes changing channel char
character characters charg charge charges chart chat che check checked chem chief child children cho choice choose
church cin circ circum cit cities citiz citizens city civil cl claim claims class classes clean clear clearly click
client clients climate clin clo clock clos close closed cloud club cluster cm cmd co coach code coding coff coffee
col cold coll collect collection college color colors column columns com comb combination combined come comes
comfort comfortable coming comm command comment comments commercial commit common communic communication communities
community como comp compan companies company compar compare compared compet competition compl comple complet
complete completed completely completion complex compliance component components comput computer con conc concent
concept concern concerns cond condition conditions conduct conf conference config configuration confirm confirmed
conflic conn connect connected connection cons consider considered consist console const constant constit construct
construction constructor consult consum cont contact contain container containing contains content contents context
contin continue continued continues contr contract contrib control controller conv conven convers conversation
convert cook cookies cool cop copies copy copyright cor core corner corpor correct correspond cos cost costs cou
could couldn coun count counter countries country couple cour course court cout cover coverage covered cr craft
crash cre creat create created creating creation cred credit crime criminal crit critic critical cross crow crush
crusher cs ctx cu cult culture cup cur curr current currently cursor custom customer customers cut cv cy cycle da
daily dam damage dan danger dans dark das dat data database dataset date datetime dating daughter day days db de
dead deal death deb debate debug dec decades decide decided decision deck decl declar decor decre ded deep def
default defe defend defense define defined definitely definition deg degree del delay delete deliver delivery delta
dem demand demon demonstr den dep department depend deploy depth der des desc descri describe described description
design designed despite dest destination destroy det detail details deter determin determine determined dev develop
developed development device devices df di dialog dict dictionary did didn die died dies diet dif diff differ
difference different difficult dig digital dim dir direct direction directly director directory dis disabled disc
discover discuss discussion dise disease dispatch display dist distance distr distrib distributed distribution
district div django do doc doctor document documentation documents does doesn dog doing doll dom domain don done
door dos doub double doubt down download dr draft drag draw dream dress drink drive driver driving dro drop drug
drugs dry dst dt du due dump dur duration during dut dynamic each ear earlier early earn earth eas easier easily
east easy eat echo econ economic economy ed edge edit editor educ education een eff effect effective effects
efficient effort efforts eg eight ein eine either el ele elect election electric element elements elif elim else em
email emb emerg emot emp employ employee employees empty en enable enabled enc encour end ended endl ends enemy
energ energy eng engine enh enjoy enough ens ensure ent enter entered entire entity entre entries entry enum enumer
env environment ep episode eq equ equal equipment er erot err error errors es esc escort especially ess essay
essential est establish established este et etc eth ev eval even event events eventually ever every everyone
everything evid evidence ex exact exactly exam example examples exc excell excellent except exception exchange exec
execute executive exerc exercise exist existing exists exit exp expand expect expected exper experi experience
experienced experiment expert expl explain explo export express expression ext extends extension external extra
extract extrem extremely ey eye eyes fa fab fac face fact factor factors factory fail failed failure fair faith fall
false fam families family fan fans fant far farm fast faster fat father fav favor favorite fe fear feature features
federal feed feedback feel feeling feet fell felt fem female fetch few fi field fields fig fight fighting figure fil
file filename files fill filled film filter fin final finally financial find finding fine finish finished fire firm
first fish fit five fix fixed fl flag flags flash flat flex flight flo float floor flow fmt fn foc focus focused fol
folder follow followed following follows font food foot football for force forced forces fore foreach foreign forget
form format former forms forward found four fprintf fr fra frag frame fre free frequ fresh fri friend friends from
front fs ft fuck fuel ful full fully fun func function functions fund funding funds furn further future gain gam
game games gar gas gather gave gay ge gen gender gener general generally generate generated generation get gets
getting gift girl girls give given gives giving gl glass global go goal goals god goes going gold gone good got goto
gover govern governing government gr grad grand graph grat gratis gre great greater green grid gro ground group
groups grow growing growth gu guar guard guess guest guid guide gun guy guys ha hab had hair half hand handle
handler hands happ happen happened happens happy har hard has hash hat have haven having he head header headers
health healthy hear heard hearing heart heat heavy height held help helped helpful helping helps her here hers het
hidden hide high higher highest highly him himself his histor history hit hold holding holds hom home homes hon
honest hook hop hope hor hospital host hot hotel hour hours hous house how however href html http https huge hum
human hundred hus husband hy hyp ice ich icon id ide idea ideal ideas ident identified identify identity idx if ign
ignore il ill im imag image images img imm immedi immediately imp impact implement implementation implements implied
import important impress impro improve in inc incident includ include included includes including income incor incre
increase increased increasing incred ind inde independ independent index indic indiv individual individuals indu
indust industry inf infl influ influence info inform information ing init initial initialize inj injury inline inn
inner innov input ins insert inside inst install installed instance instanceof instant instead instit instr
instruction insurance int integ integer integr intended intent inter interest interested interesting interface
intern internal international internet interval interview into intr introdu inv invalid invest investig
investigation investment invol involved io ip ir iron is isn iss isset issue issued issues ist it item items iter
its itself jav java javax je jo job jobs join joined joint jour journal js json ju jud jump just justify ke keep
keeping kept kernel key keys kick kid kids kill killed kind kitchen kn knew know knowledge known knows kom la lab
label labels labor lack land lang language larg large larger largest las last lat late later latest launch law laws
lawy lay layer layout le lead leader leaders leading league learn learned learning least leave leaves leaving led
left leg legal legis len length les less let letter level levels li lib library license lie lif life light lik like
likely lim limit limitations limited lin line lines link linked links list listed listen liter little live lives
living ll lo load loaded loading loc local located location locations lock log logger logging login long longer look
looked looking looks loop los lose loss lost lot lots love loved low lower ma mac mach machine made mag magic magn
mail main maint maintain mais major majority make makes making mal male man manage managed management manager
manufact many map mar margin mark market marketing marriage mas mask mass massage massive master mat match matches
material materials math matrix matter max maximum may maybe mb md me mean meaning means meant meas measure measures
mechan med media medic medical medium meet meeting mel mem member members memory men mental mention mentioned menu
mer merge mes mess message messages met meta metal method methods mi micro mid middle might migr mil miles milit
military mill million min mind mine minimum minor minute minutes mir mis miss missing mission mist mit mix mixed mm
mo mobile mock mod mode model models modern modified modify module mom moment mon money monitor month months mor
more morning mort most mostly mot mother motor mount mouse mouth mov move moved movement moves movie movies moving
mp ms msg much mult multi multiple mur murder mus music must mut my mys myself mysql mysqli na name named names
namespace nation national native natural nature nav navigation ne near nearly necess necessary need needed needs neg
negative neighb neighbor net network never new news next ng nice nicht night nil nn no node nodes nom non none nor
norm normal north not note noted notes nothing notice nov now np nu null nullptr num number numbers numer numpy nums
nut ob obj object objects obs observ obt obtain obvious occ occas occup occurred od odd of off offer offered
offering offers offic office officer officers official officials offset often og oil ok ol old older om on once one
ones online only onto op open opened opening oper operating operation operations operator opin opinion opp oppon
opport opportunities opportunity oppos opt optim option optional options or ord order orders org organ organization
orig origin original os other others otherwise ou our out output outside over overall override own owner owners pa
pack package packet pad padding page pages paid pain paint pair pal pan panel paper par para param parameter
parameters params parent parents park pars parse parser part partial partic particip particular particularly parties
partner partners parts party pas pass passed password past pat patch path patient patients pattern pay payload
payment pd pe peace ped pen people per percent perfect perform performance performed perhaps period permission
permissions pers person personal pet ph phase phil phone phot photo photograph photos phys physical pi pic pick
picture pictures pie piece pieces pin pitch pl place placed placeholder places plan plane planning plans plant
plants platform play played player players playing ple please plot plt plugin plus pm po pod point pointer points
pol polic police policies policy polit political poll poly pool poor pop popular population por porn porno port pos
position positions positive poss possible possibly post posted posts pot potential pour pow power powerful pr pract
practice pre prec pred predict prefer prefix prem prepar prepare prepared pres presence present presented president
press pressure pret pretty prev prevent previous previously price prices prim primary prime princip print printf
prior priority prison priv private pro prob probably proble problem problems proced procedure proceed process
processing produ produce produced product production products prof profession professional profile program programs
progress project projects prom prompt prop proper properly properties property propos proposed props pros prot prote
protect protected protection protest prov provid provide provided provider provides providing ps psych pt ptr pub
public publish published pul pull pun pur purch purchase pure purpose purposes purs push put puts putting py python
qu qual quality quant quarter que query quest question questions queue qui quick quickly quite rac race rad radio
radius rais raise raised ran rand random range rank rap rapid rare rate rates rather rating raw rc re reach reached
read reader reading readonly ready real reality really reason reasons rec rece receive received recent recently
recogn recomm recommend record records rect red redirect redistrib redistribute redu reduce reduced ref refer
reference reflect refresh reg regard regarding region register registered regular reject rel related relations
relationship relative release released relevant reli relig religious rem remain remaining remains remember remote
remove removed ren rencont rencontre render rent rep repe repl replace reply report reported reports represent
represents req requ request requests require required requirements requires res research reserved reset residents
resolution resolve resource resources resp respect respond respons response responsible rest restaur restaurant
restrict result results ret retail retrie return returned returns rev reve revealed reverse review reviews rich rid
right rights ring ris rise risk ro road rob rock role roll rom room root rot round rout route router row rows rs rub
rule rules run running runs sa saf safe safety said sal sale sales sam same sample samples san sand sat satisf save
saved saw say saying says sb sc scale scan scen scene sch sched schedule schema school schools science scient scope
score scr scre screen script scroll se sea search season seat sec second seconds secret section sector secure
security sed see seed seeing seek seeking seem seemed seems seen seg segment select selected selection selector self
sell sem sen send sender senior sens sense sent separ separate sequence ser serial series serious serv serve served
server service services session set sets sett setting settings setup seven sever several sex sexual sexy sh shall
shape share shared she sheet shift ship shock shoot shooting shop short shot should show showed showing shown shows
shut si sich side sie sig sign signal signed signific significant sil sim similar simple simply sin since sing
single sit site sites situ situation six size sizeof sk skill skills skin skip sl sleep slight slightly slot slow sm
small smaller smart smooth sn snap so social society socket soft software sol sold solid solution solutions som some
someone something sometimes somew son song soon sort sorted sou sound sounds source sources south sp space span spe
speak spec special species specific specified spect speech speed spend spending spent spirit split sport sports spot
spr spread spring sql squ square src ss st stack staff stage stand standard standards star stars start started
starting starts stat state stated statement states static station stats status stay std ste steel step steps stick
still stock stone stop stopped storage store stored stores stories story str straight strateg strategy stre stream
street strength stress stri strict string strings strong struct structure strugg stud student students studies study
stuff style styles su sub subject submit subs substant success successful successfully such sudden suff suffer
suggest suit sum summer sun sup super supply support supported supposed sur sure surface surpr surround surv survey
sus susp sust sw swe sweet switch sy sym symbol syn sys system systems sz ta tab table tag tags tail take taken
takes taking tal talent talk talking target task tasks tax te teach team teams techn technical technology teen tele
tell tells tem temp temper temperature template ten tend ter term termin terms terr terror test testing tests text
texture tf th than thank thanks that the their them theme thems themselves then theory ther there therefore these
they thing things think thinking third this those though thought thous thousands thr thread threat three through
throughout throw throws thus ti tick tight til tile tim time timeout timer times tips tit title tmp to today
together tok token told tom ton too took tool tools top topic tor torch tot total touch tough tour toward towards
town tr tra track trad trade traditional traff traffic trail train training trans transaction transfer transform
transition transport trav travel tre treat treatment tree trend tri trial tried trigger trim trip tro truck true
truly trust truth try trying ts tu turn turned turns tw twice two tx txt typ type typeof types ui uint ul ult um uma
un una und undefined under understand understanding une unf unique unit units univers unknown unless uns unsigned
until up update updated updates upload upon upper ur url us usage use used useful user username users uses using
usually ut utf util vac val valid validate validation value values van var vari variable variables variety various
ve vec vector veh vehicle vel vent ver verify vers version versions vert very vi via vict video videos view views
vill viol violence vir virtual vis visible visit visual vm vo voice void vol volume von vot vote vous vs wa wait
waiting walk wall want wanted wants war warm warn warning warrant warranty was wasn watch watching water way ways we
weak weap weapon weapons wear weather web website wed week weekend weeks weight welcome well went wer were west wh
what whatever when where whether which while white who whole whom whose why wid wide widget width wife wild will
willing win wind window windows winning wire wish with within without wom woman women won wonder wood wor word words
work worked workers working works world worry worse worth would wouldn wr writ write writer writing written wrong
wrote www wx xml yang year years yes yet yield you young your yourself zero zip zone zu
""".split()
)
