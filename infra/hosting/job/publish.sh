#!/usr/bin/env bash
# Publishes once, without a server, into a branch of the repository whose root is the current folder. The publish.sh that
# `tidemark init` writes runs this file of the package, so that an update of the package updates it, too. See
# docs/hosting-static.md, "A job of GitHub or GitLab".
#
#   sources/*.json    the recipes: each is fetched in each run
#   files/            CSV files, each with its mapping beside it: prices.csv, prices.mapping.jsonc. Changed rows become corrections
#   site/             the worktree of the branch that has the public files
#   SITE_BRANCH       the name of that branch: `site` by default
#   TIDEMARK_LOG_KEY  the key of the log, a secret; or its file: TIDEMARK_LOG_KEY_FILE, or ./log-key
#   TIDEMARK_READ_BASE_URL  the base URL for readers, which some files contain
#
# The first publication is `bash publish.sh --begin`. Further arguments are those of `tidemark run`, such as a file to ingest.
# The exit code is that of a push that failed, or of the run, but 0 if there was nothing new.
set -euo pipefail
begins=false
if [ "${1:-}" = --begin ]; then
  begins=true
  shift
fi
branch="${SITE_BRANCH:-site}"
is_hosted=false
place=here
if git remote get-url origin >/dev/null 2>&1; then
  is_hosted=true
  place="at origin"
fi

# A run without the published log would begin a second log with the same key, and readers would see a fork. A lost branch looks
# like one that never was, so a person must ask for the first publication. If there is an origin, its branch counts: an old branch
# of this clone would fork the log, too. Exit code 2 says that origin lacks the branch. Any other failure ends the script here.
is_published=false
if $is_hosted; then
  answer=0
  git ls-remote --exit-code origin "refs/heads/$branch" >/dev/null || answer=$?
  case $answer in
    0) is_published=true ;;
    2) ;;
    *) exit 1 ;;
  esac
elif git show-ref --verify --quiet "refs/heads/$branch"; then
  is_published=true
fi
if $begins && $is_published; then
  echo "There is a branch $branch $place already. Leave out --begin: it is only for the first publication." >&2
  exit 1
fi
if $begins && git show-ref --verify --quiet "refs/tidemark/$branch"; then
  echo "This clone has published before, and the branch $branch is missing $place. Push it back: git push origin $branch" >&2
  echo "Only if no reader has ever seen that log: git update-ref -d refs/tidemark/$branch" >&2
  exit 1
fi
if ! $begins && ! $is_published; then
  echo "There is no branch $branch $place. Nothing was changed." >&2
  echo "If nothing was published yet: bash publish.sh --begin" >&2
  echo "If the branch was lost, push it back from a full clone that has its newest commit: git push origin $branch" >&2
  echo "Do not begin again then: a second log with the same key is a fork for all readers." >&2
  exit 1
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
# The newest commit that this clone has pushed or fetched.
known="refs/tidemark/$branch"
if $is_hosted && $is_published; then
  public="refs/remotes/origin/$branch"
  git fetch --quiet origin "+refs/heads/$branch:$public"
  if ! git -C site merge --quiet --ff-only "$public" 2>/dev/null; then
    # Another machine has published, and a push from here has failed before. Readers have the other log, so this run goes on from
    # that one. But if origin has lost commits that were public, a run would fork the log, and a person must decide.
    if git rev-parse --verify --quiet "$known" >/dev/null && ! git merge-base --is-ancestor "$known" "$public"; then
      echo "origin/$branch was rewritten: it lacks $(git rev-parse --short "$known"), which was public." >&2
      echo "Restore it there. If the rewritten branch has the whole log, take it: git update-ref -d $known" >&2
      exit 1
    fi
    git -C site add --all
    git -C site diff --cached --quiet || git -C site commit --quiet --message 'Never published'
    echo "Set aside, because another machine has published and these commits were never pushed:" >&2
    git -C site log --format='  %h %s' "$public..HEAD" >&2
    echo "Rows of files/ and sources/ are published again now. Repeat a run that had arguments, such as --remove." >&2
    git -C site reset --quiet --hard "$public"
  fi
  git update-ref "$known" "$public"
fi

inputs=()
for recipe in sources/*.json; do
  if [ -e "$recipe" ]; then inputs+=(--source "$recipe"); fi
done
# Deleted rows stay published without --complete --retract-missing.
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
# the pushed ones. The push is not made in site/, because the URL of origin may be a relative path.
pushed=0
if $is_hosted; then
  newest="$(git -C site rev-parse HEAD)"
  git push --quiet origin "$newest:refs/heads/$branch" || pushed=$?
  if [ "$pushed" -eq 0 ]; then git update-ref "$known" "$newest"; fi
fi
if [ "$pushed" -ne 0 ]; then exit "$pushed"; fi
if [ "$status" -eq 8 ]; then exit 0; fi
exit "$status"
