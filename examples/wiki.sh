#!/bin/sh
# The memory as a site: the wiki of the demo vault is built and written as static pages, and a headless browser takes a
# picture of some of them. Leaves its work in ./demo-site, and the demo vault in ./demo-vault.
set -eu
cd "$(dirname "$0")/.."
unset CLAWMEM_AGENT CLAWMEM_SESSION CLAWMEM_NOW CLAWMEM_SEED
[ -d demo-vault ] || sh examples/demo.sh >/dev/null
CLAWMEM_VAULT=demo-vault
export CLAWMEM_VAULT

clawmem wiki build
clawmem wiki site demo-site
clawmem graph neighbors areas/people/lena

browser=
for name in chromium-headless-shell chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null; then
        browser=$name
        break
    fi
done
if [ -z "$browser" ]; then
    echo "No browser is here, so no picture was taken: apt-get install chromium-headless-shell"
    exit 0
fi
for page in areas/people/nora search graph; do
    picture=demo-site-$(basename "$page").png
    rm -f "$picture"
    "$browser" --headless --no-sandbox --hide-scrollbars --use-angle=swiftshader --enable-unsafe-swiftshader \
        --window-size=1280,900 --virtual-time-budget=3000 --screenshot="$picture" \
        "file://$PWD/demo-site/$page.html$([ "$page" = search ] && echo '?q=lena' || true)" >/dev/null 2>&1
    [ -s "$picture" ] || { echo "$browser took no picture of $page.html" >&2; exit 1; }
    echo "Picture: $picture"
done
