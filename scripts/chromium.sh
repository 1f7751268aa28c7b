#!/usr/bin/env bash
# Installs Debian's Chromium and its driver where they are missing and may be; says so and leaves them out elsewhere.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/environment.sh"

packages=(chromium chromium-driver fonts-dejavu-core)

if [ "${SHADOWPROBE_TEST_CHROMIUM:-1}" = 0 ]; then
  say "SHADOWPROBE_TEST_CHROMIUM=0: Chromium is not installed, and its tests are skipped"
elif command -v chromium >/dev/null 2>&1 && command -v chromedriver >/dev/null 2>&1; then
  exit
elif [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
  say "Chromium is not here, and only root on Debian can have it installed: its tests are skipped" \
    "(apt-get install ${packages[*]})"
else
  say "installing Debian's Chromium: about a minute"
  if ! { apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null; }; then
    say "Chromium is not to be had here: its tests are skipped"
  fi
fi
