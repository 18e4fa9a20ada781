# Sourced by ./run, ./test and .ci/run: the Debian packages each of them needs, installed by name.
# A package that is there already costs one dpkg-query, so a second start needs neither apt nor a network.

readonly kBuildPackages=(g++ cmake ninja-build nlohmann-json3-dev libcli11-dev libfmt-dev libreadline-dev
  libboost1.81-dev libsqlite3-dev zlib1g-dev)
readonly kTestPackages=(libgtest-dev libgmock-dev clang-format-14 python3 python3-pip python3-venv
  python3-jinja2 ca-certificates libsimde-dev curl sqlite3 chromium)
readonly kFuzzPackages=(clang-14 libclang-rt-14-dev)
readonly kCiPackages=("${kFuzzPackages[@]}" clang-tidy-14 qemu-user googletest g++-aarch64-linux-gnu git)

# Prints those of the named packages that are not installed.
missing_packages() {
  if ! command -v dpkg-query >/dev/null; then
    printf '%s\n' "$@"
    return
  fi
  local installed
  installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "$@" 2>/dev/null || true)
  local package
  for package in "$@"; do
    grep -qx "$package installed" <<<"$installed" || printf '%s\n' "$package"
  done
}

# Runs its arguments as root; without a terminal sudo may not ask for a password.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif [ -t 0 ]; then
    sudo "$@"
  else
    sudo -n "$@"
  fi
}

# Installs what is missing of the named packages, or ends the script with one line that lists them.
install_packages() {
  local missing
  mapfile -t missing < <(missing_packages "$@")
  [ "${#missing[@]}" -gt 0 ] || return 0
  local list="${missing[*]}"
  if ! command -v apt-get >/dev/null; then
    echo "smolbot: needs the Debian 12 packages: $list (found no apt-get to install them)" >&2
    exit 2
  fi
  if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
    echo "smolbot: needs the Debian packages: $list (not root, and found no sudo to install them)" >&2
    exit 2
  fi
  echo "smolbot: installing $list" >&2
  local log
  log=$(mktemp)
  # An update may fail where the package lists on disk are enough: only the install decides.
  as_root apt-get update -q >"$log" 2>&1 || true
  if ! as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
    -o DPkg::Lock::Timeout=120 "${missing[@]}" >>"$log" 2>&1; then
    echo "smolbot: apt-get could not install: $list ($(grep -E '^(E:|sudo:)' "$log" | head -n 1))" >&2
    rm -f "$log"
    exit 2
  fi
  rm -f "$log"
}
