#!/usr/bin/env bash
# Publishes once, without a server, into a branch of this repository. A scheduled job runs it; you can run it, too. See
# docs/hosting-static.md, "A job of GitHub or GitLab".
#
#   sources/*.json    the recipes: each is fetched in each run
#   files/            CSV files, each with its mapping beside it: prices.csv, prices.mapping.jsonc. Changed rows become corrections
#   site/             the worktree of the branch that has the public files
#   SITE_BRANCH       the name of that branch: `site` by default
#   TIDEMARK_LOG_KEY  the key of the log, a secret; or its file: TIDEMARK_LOG_KEY_FILE, or ./log-key
#
# Arguments are those of `tidemark run`, such as a file to ingest. The exit code is that of the run, but 0 if there was nothing new.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
branch="${SITE_BRANCH:-site}"
# The base URL for readers, which some files contain.
export TIDEMARK_READ_BASE_URL="${TIDEMARK_READ_BASE_URL:-}"
is_hosted=false
if git remote get-url origin >/dev/null 2>&1; then is_hosted=true; fi

# A run without the published log would begin a second log with the same key, and readers would see a fork. So a new branch is
# created only if origin answers that it does not have the branch, which is exit code 2. Any other failure ends the script here.
is_published=false
if $is_hosted; then
  answer=0
  git ls-remote --exit-code origin "refs/heads/$branch" >/dev/null || answer=$?
  case $answer in
    0) is_published=true ;;
    2) ;;
    *) exit 1 ;;
  esac
fi

git worktree prune
if [ ! -e site/.git ]; then
  if git show-ref --verify --quiet "refs/heads/$branch"; then
    git worktree add --quiet site "$branch"
  elif $is_published; then
    git fetch --quiet --depth 1 origin "+refs/heads/$branch:refs/remotes/origin/$branch"
    git worktree add --quiet -b "$branch" site "refs/remotes/origin/$branch"
  else
    git worktree add --quiet --detach site
    git -C site switch --quiet --orphan "$branch"
  fi
fi
if $is_published; then
  git fetch --quiet origin "+refs/heads/$branch:refs/remotes/origin/$branch"
  git -C site merge --quiet --ff-only "refs/remotes/origin/$branch"
fi

inputs=()
for recipe in sources/*.json; do
  if [ -e "$recipe" ]; then inputs+=(--source "$recipe"); fi
done
# Deleted rows stay published. To withdraw them in each run, add here: --complete --retract-missing
if [ -d files ]; then inputs+=(--files files --mode correct); fi
# Each run begins its ledger from the log: a kept ledger would be outdated as soon as another machine has published.
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
message="$work/message"
if [ -z "${TIDEMARK_LOG_KEY:-}" ] && [ -e log-key ]; then export TIDEMARK_LOG_KEY_FILE="${TIDEMARK_LOG_KEY_FILE:-log-key}"; fi
status=0
npx --no-install tidemark run ${inputs[@]+"${inputs[@]}"} --data "$work/data" --to site --from-log --message-file "$message" "$@" || status=$?
# Without a message, the run was refused, and has written nothing.
if [ ! -s "$message" ]; then exit "$status"; fi

git -C site add --all
git -C site diff --cached --quiet || git -C site commit --quiet --file "$message"
# A push is refused if another run has pushed in the meantime. Then these files were never public, and the next run begins from
# the pushed ones.
if $is_hosted; then git -C site push --quiet origin "HEAD:refs/heads/$branch"; fi
if [ "$status" -ne 8 ]; then exit "$status"; fi
