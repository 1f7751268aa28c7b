#!/usr/bin/env bash
# Installs Debian's MediaWiki where it is missing and may be; says so and leaves it out elsewhere.
# With arguments, `scripts/mediawiki.sh DIR URL`: makes an empty wiki in DIR that is to be served at URL.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/environment.sh"

tree=${MEDIAWIKI_TREE:-/usr/share/mediawiki}
packages=(mediawiki php-cli php-sqlite3 php-mbstring php-xml php-intl php-curl)

is_installed() {
  [ -f "$tree/maintenance/install.php" ] && command -v php >/dev/null 2>&1 &&
    php -r 'foreach (["sqlite3", "mbstring", "xml", "intl", "curl"] as $m) extension_loaded($m) || exit(1);'
}

install_packages() {
  if [ "${SHADOWPROBE_TEST_MEDIAWIKI:-1}" = 0 ]; then
    say "SHADOWPROBE_TEST_MEDIAWIKI=0: MediaWiki is not installed, and its tests are skipped"
  elif is_installed; then
    return
  elif [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    say "MediaWiki is not here, and only root on Debian can have it installed: its tests are skipped" \
      "(apt-get install ${packages[*]})"
  else
    say "installing Debian's MediaWiki: about a minute"
    # What it recommends is a database server, and a wiki in a file needs none.
    if ! { apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null; }; then
      say "MediaWiki is not to be had here: its tests are skipped"
    fi
  fi
}

# The tree is used where it lies, with settings and data elsewhere, so that a wiki costs no copy and a second of time.
make_wiki() {
  local directory=$1 url=$2
  if ! is_installed; then
    say "MediaWiki is not installed: run $0 without arguments, as root" >&2
    exit 1
  fi
  mkdir -p "$directory"
  export MW_CONFIG_FILE=$directory/LocalSettings.php
  # `--with-extensions` would take all that there are, whatever it is given.
  php "$tree/maintenance/install.php" --quiet --dbtype sqlite --dbpath "$directory/data" --dbname wiki \
    --server "$url" --scriptpath "" --lang "${WIKI_LANGUAGE:-en}" --confpath "$directory" --skins "" \
    --extensions Cite,TextExtracts,ParserFunctions --pass "$(head -c 24 /dev/urandom | base64)" Shadowland Keeper
  cat >>"$directory/LocalSettings.php" <<'SETTINGS'
# Reading must not start the work that writing has left over, and answers must not depend on when they are asked for.
$wgJobRunRate = 0;
$wgMainCacheType = CACHE_NONE;
$wgParserCacheType = CACHE_NONE;
SETTINGS
}

if [ $# -eq 0 ]; then
  install_packages
elif [ $# -eq 2 ]; then
  make_wiki "$1" "$2"
else
  say "give a directory and the URL at which its wiki is to be served, or nothing at all" >&2
  exit 2
fi
