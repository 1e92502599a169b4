/** Writes the files of a repository that publishes by a scheduled job. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { WEEKDAYS } from '../../contract/freshness/cadence.ts';
import type { Recipe } from '../../mapping/recipe/recipe.ts';
import { secretsIn } from '../../mapping/recipe/recipe-secrets.ts';
import { isInternalOrigin } from '../../mapping/recipe/recipe-url.ts';
import type { Schedule } from '../../mapping/recipe/schedule.ts';
import { zoneClock } from '../../mapping/values/zone-clock.ts';
import { makeLogKey } from '../../server/commands/log-keys.ts';
import { CommandError } from '../program/exit-codes.ts';
import { print } from '../program/output.ts';
import { checkedRecipe, readRecipe } from '../sources/recipe-file.ts';
import { HOSTS, type Host } from './hosts.ts';

const JOB = new URL('../../infra/hosting/job/', import.meta.url);
const OWNER_ONLY = 0o600;

/**
 * @param recipe a file, or the name of a shipped recipe. Undefined: the data are CSV files in `files/`
 * @param origin the name of the log
 * @throws CommandError `usage` if a file exists already, or for a recipe with faults. Then nothing is written
 */
export async function makeRepository(
  folder: string,
  { recipe: place, origin, host }: { readonly recipe?: string; readonly origin: string; readonly host: Host },
): Promise<void> {
  const text = place === undefined ? null : readRecipe(place);
  const source = place === undefined || text === null ? null : checkedRecipe(place, text);
  const recipe = source?.recipe ?? null;
  const { workflow, steps } = HOSTS[host];
  const needs = recipe === null ? NEEDS_OF_FILES : jobNeeds(recipe, new Date().getUTCFullYear());
  const { key, vkey } = makeLogKey(origin);
  const files: Readonly<Record<string, string>> = {
    ...(source === null ? { 'files/.gitkeep': '' } : { [`sources/${source.name}.json`]: text ?? '' }),
    'publish.sh': publishScript(origin),
    [workflow]: workflowFor(shipped(`${host}.yml`), needs),
    '.gitignore': 'node_modules/\nsite/\nlog-key\n',
    // npm warns of other install scripts, and may not run them. That of `node` fetches the Node that Tidemark runs on.
    'package.json': `${JSON.stringify({ private: true, allowScripts: { node: true, esbuild: false } }, null, 2)}\n`,
    'README.md': readme(basename(resolve(folder)), recipe, origin, stepsFor(steps, needs)),
    'log-key': `${key}\n`,
  };
  const present = Object.keys(files).filter((file) => existsSync(join(folder, file)));
  if (present.length > 0) {
    const advice = 'Name a new folder, or move these files away: nothing is replaced, and nothing was written.';
    throw new CommandError('usage', `${resolve(folder)} already has ${present.join(', ')}.`, advice);
  }
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), content, { flag: 'wx', mode: file === 'log-key' ? OWNER_ONLY : 0o666 });
  }
  await print(`${resolve(folder)} has ${Object.keys(files).join(', ')}.

log-key is secret: git ignores it. Keep a copy elsewhere, because a lost key ends the log. Readers verify with
${vkey}
${needs.isList ? `\n${OF_LIST}\n` : ''}
Next: ${join(folder, 'README.md')}, "Install".
`);
}

function shipped(file: string): string {
  return readFileSync(new URL(file, JOB), 'utf8');
}

/** The steps stay in the package, so that an update of the package mends them in every repository. */
function publishScript(origin: string): string {
  return `#!/usr/bin/env bash
# Publishes this repository once. The first time: bash publish.sh --begin. Further arguments are those of \`tidemark run\`. To withdraw
# deleted rows in each run, add --complete --retract-missing to the end of the last line.
set -euo pipefail
cd "$(dirname "\${BASH_SOURCE[0]}")"
export TIDEMARK_READ_BASE_URL="\${TIDEMARK_READ_BASE_URL:-https://${origin}}"
steps=node_modules/tidemark/infra/hosting/job/publish.sh
if [ ! -e "$steps" ]; then
  echo 'The package tidemark is not installed here. Run npm ci, or the first time the command under "Install" in README.md.' >&2
  exit 1
fi
exec bash "$steps" "$@"
`;
}

/** The workflow that we ship, with the times, secrets and hosts of the recipe. */
function workflowFor(text: string, { crons, secrets, internalHosts }: JobNeeds): string {
  const hosts = internalHosts.length === 0 ? [] : [`TIDEMARK_SOURCE_HOSTS: "${internalHosts.join(',')}"`];
  // GitLab gives a job all variables of the project, so only GitHub needs this list.
  const ofGithub = [...secrets.map((name) => `${name}: \${{ secrets.${name} }}`), ...hosts];
  return text
    .replace(/^# Without `tidemark init`.*\n/m, '')
    .replace(/^( +)- cron: .*\n/m, (_, indent: string) => crons.map((cron) => `${indent}- cron: "${cron}"\n`).join(''))
    .replace(/^( +)TIDEMARK_LOG_KEY: .*\n/m, (line, indent: string) =>
      [line, ...ofGithub.map((variable) => `${indent}${variable}\n`)].join(''),
    )
    .replace(/^( +)variables:\n/m, (line, indent: string) =>
      [line, ...hosts.map((variable) => `${indent}  ${variable}\n`)].join(''),
    );
}

function stepsFor(steps: readonly string[], { crons, secrets, internalHosts }: JobNeeds): readonly string[] {
  const named = secrets.map((name) => `\`${name}\``).join(', ');
  return [
    ...steps.map((step) => step.replace('CRON', crons.map((cron) => `\`${cron}\``).join(', '))),
    ...(secrets.length === 0
      ? []
      : [
          `Store there, too, what the recipe needs: ${named}. Each is the host that may get it, a space, and the value.`,
        ]),
    ...(internalHosts.length === 0
      ? []
      : [
          `The recipe asks ${internalHosts.join(', ')}: choose a runner that reaches it. The workflow allows it by \`TIDEMARK_SOURCE_HOSTS\`.`,
        ]),
  ];
}

const OF_LIST =
  'The recipe is a list, and a job without a disk has no earlier answers, so it does not notice a value that vanishes. To notice it, let one machine run `bash publish.sh --data FOLDER`, with a folder that is kept.';

function readme(title: string, recipe: Recipe | null, origin: string, steps: readonly string[]): string {
  return `# ${title}

Market data as a signed API of static files, made by Tidemark from the ${recipe === null ? 'files in `files/`' : 'recipes in `sources/`'}. The public files are the branch
\`site\`. The name of the log is \`${origin}\`.

## Install

Tidemark is not in a registry: \`npm pack\` in a clone of it makes the package. With the package in this folder, and before any other command here:

\`\`\`sh
npm install ./tidemark-*.tgz
\`\`\`

## The data

${recipe === null ? OF_FILES : ofSource(recipe)}

## Publish

\`\`\`sh
git init --initial-branch=main
git add --all
git commit --message 'A service'
bash publish.sh --begin
\`\`\`

\`site/\` now has the public files: any web server shows them, such as \`python3 -m http.server --directory site\`. \`log-key\` is secret, and git
ignores it: keep a copy elsewhere, because a lost key ends the log. Only the first publication has \`--begin\`: a job that does not find the branch
\`site\` publishes nothing. Then let a host do it:

${steps.map((step, index) => `${index + 1}. ${step}`).join('\n')}

${recipe?.list === undefined ? '' : `${OF_LIST}\n\n`}${recipe === null ? '' : `The workflow has the times of the job, from this recipe. Put further recipes into \`sources/\`. ${OF_FILES}\n\n`}A push of a changed file publishes it. To remove a market for good, first delete its rows from the files: \`bash publish.sh --remove SLUG --public-reason TEXT\`. If another market takes its place, add \`--replaced-by SLUG\`, which cannot be added later.
`;
}

const OF_FILES =
  'Put CSV files into `files/`, each with its mapping beside it: `prices.csv` and `prices.mapping.jsonc`, which `npx --no-install tidemark mapping init files/prices.csv > files/prices.mapping.jsonc` begins. A new row becomes a new value, and a changed row a correction. `bash publish.sh --dry-run` shows what a run would change. A row that you delete stays published, unless you add `--complete --retract-missing`.';

/** Files need one run a day, which repeats a push whose job has failed. */
const NEEDS_OF_FILES: JobNeeds = { crons: ['40 15 * * *'], secrets: [], internalHosts: [], isList: false };

function ofSource({ name, description, publisher, licence, attribution, url }: Recipe): string {
  const terms =
    licence === null
      ? 'The recipe states no licence. Read the terms of the publisher before you publish.'
      : `Licence: ${licence}.`;
  return [
    `**${name}**: ${description ?? url}`,
    ...(publisher == null ? [] : [`Publisher: ${publisher}.`]),
    ...(attribution == null ? [] : [`${attribution}.`]),
    terms,
  ].join('  \n');
}

/** The pause after the scheduled time, because a source may publish a little late. */
const AFTER_MINUTES = 10;
const DAY_MINUTES = 1440;

interface JobNeeds {
  /** Cron expressions in UTC, one for each time of the day. */
  readonly crons: readonly string[];
  /** Names of environment variables. */
  readonly secrets: readonly string[];
  /** Hosts that only the operator can allow: the value of TIDEMARK_SOURCE_HOSTS. */
  readonly internalHosts: readonly string[];
  /** Whether the recipe needs its earlier answers to notice removed rows. */
  readonly isList: boolean;
}

/** @param year the year whose summer and winter time count */
function jobNeeds({ url, headers = {}, hosts, schedule, list }: Recipe, year: number): JobNeeds {
  const secrets = [url, ...Object.values(headers)].flatMap(secretsIn);
  return {
    crons: cronsOf(schedule, year),
    secrets: [...new Set(secrets)].map((name) => `TIDEMARK_SECRET_${name}`),
    internalHosts: hosts.filter(isInternalOrigin),
    isList: list !== undefined,
  };
}

function cronsOf(schedule: Schedule, year: number): readonly string[] {
  if ('everyMinutes' in schedule) {
    const hours = Math.floor(schedule.everyMinutes / 60);
    if (hours === 0) return [`*/${schedule.everyMinutes} * * * *`];
    if (hours < 24) return [`${AFTER_MINUTES} ${hours === 1 ? '*' : `*/${hours}`} * * *`];
    return [`${AFTER_MINUTES} 0 * * *`];
  }
  // Cron has no summer time. With the offset of winter, no run is before the source's time.
  const clock = zoneClock(schedule.timeZone);
  const offsetMinutes = Math.min(...[0, 6].map((month) => clock.offsetAt(Date.UTC(year, month)) / 60_000));
  return schedule.at.map((time) => {
    const [hours, minutes] = time.split(':').map(Number) as [number, number];
    const at = hours * 60 + minutes - offsetMinutes + AFTER_MINUTES;
    const laterDays = Math.floor(at / DAY_MINUTES);
    const ofDay = at - laterDays * DAY_MINUTES;
    return `${ofDay % 60} ${Math.floor(ofDay / 60)} * * ${daysOf(schedule.days, laterDays)}`;
  });
}

/** The numbers of days in cron: Sunday is 0. */
function daysOf(days: readonly (typeof WEEKDAYS)[number][], laterDays: number): string {
  if (new Set(days).size === WEEKDAYS.length) return '*';
  const numbers = days.map((day) => (WEEKDAYS.indexOf(day) + 1 + laterDays + 7) % 7);
  return [...new Set(numbers)].sort().join(',');
}
