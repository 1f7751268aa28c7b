# Sourced by scripts/test: makes an environment for REL, whose packages are older than those of shadowprobe.

# make_rel_environment DIR: REL with its own server; says so and leaves it out where it cannot be had.
make_rel_environment() {
  local directory=$1
  if [ "${SHADOWPROBE_TEST_REL:-1}" = 0 ]; then
    say "SHADOWPROBE_TEST_REL=0: REL is not installed, and the tests of its server are skipped"
    return
  fi
  make_environment "$directory"
  local python=$directory/bin/python
  if "$python" -c 'from importlib.metadata import version; version("gensim"); version("radboud-el")' 2>/dev/null; then
    return
  fi
  say "installing REL into $directory: 1.5 GB, a few minutes"
  local pip=("$python" -m pip install --quiet --disable-pip-version-check)
  # This torch comes first because a bare one brings several gigabytes that a CPU has no use for. REL imports gensim,
  # which flair used to bring, and pkg_resources, which is gone from newer setuptools.
  if ! { "${pip[@]}" torch==2.13.0 &&
    "${pip[@]}" radboud-el==0.0.1 flair==0.15.1 gensim 'setuptools<81'; }; then
    say "REL is not to be had here: the tests of its server are skipped"
  fi
}
