# Sourced by scripts/quickstart and scripts/test: makes a virtual environment of the project's own.

say() { printf '%s\n' "==> $*"; }

# make_environment DIR: a virtual environment with pip; installs Debian's venv package where it is missing and may be.
make_environment() {
  local directory=$1 python=${PYTHON:-python3}
  if [ -x "$directory/bin/python" ] && "$directory/bin/python" -m pip --version >/dev/null 2>&1; then
    return
  fi
  if ! command -v "$python" >/dev/null 2>&1 || ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
    if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
      say "installing Debian's python3-venv"
      apt-get update -qq
      DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3 python3-venv >/dev/null
    else
      say "$python has no venv module: install Debian's python3-venv, or give another Python with PYTHON=..." >&2
      exit 1
    fi
  fi
  if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    say "shadowprobe needs Python 3.11 or newer, and $python is $("$python" --version); give another with PYTHON=..." >&2
    exit 1
  fi
  say "making a virtual environment in $directory"
  rm -rf "$directory"
  "$python" -m venv "$directory"
}
