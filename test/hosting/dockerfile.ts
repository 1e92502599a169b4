/**
 * Runs the steps of a Dockerfile without a container engine. Each stage is a layer over this machine's own files, which stand in
 * for the base image; Node is the pinned one. Only the instructions and options that infra/hosting/ uses are known: others throw.
 */
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, matchesGlob, relative } from 'node:path';

interface Instruction {
  readonly name: string;
  readonly options: ReadonlyMap<string, string>;
  readonly words: readonly string[];
  readonly text: string;
}

export interface Stage {
  /** What the steps have added. */
  readonly layer: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly workdir: string;
  readonly user: string;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
}

export function instructionsOf(dockerfile: string): readonly Instruction[] {
  const lines = dockerfile
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n/g, ' ')
    .split('\n');
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name = '', options = '', text = ''] = /^([A-Z]+) +((?:--\S+ +)*)(.*)$/.exec(line) ?? [];
      const pairs = options.trim().split(/ +/).filter(Boolean);
      return {
        name,
        options: new Map(pairs.map((pair) => pair.slice(2).split('=', 2) as [string, string])),
        words: text.split(/\s+/),
        text,
      };
    });
}

/** The stages in their order, each run to its end. */
export function runStages(root: string, file: string, folder: string): readonly Stage[] {
  const ignored = readFileSync(join(root, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const stages = new Map<string, Stage>();
  let stage: Stage | null = null;
  let name = '';
  for (const instruction of instructionsOf(readFileSync(join(root, file), 'utf8'))) {
    if (instruction.name === 'FROM') {
      const [, , alias] = instruction.words;
      name = alias ?? String(stages.size);
      const layer = join(folder, name);
      mkdirSync(layer, { recursive: true });
      const none = { environment: {}, workdir: '/', user: '', entrypoint: [], command: [], healthcheck: [] };
      stage = { layer, ...none };
    } else if (stage !== null) {
      stage = run(instruction, stage);
    }
    if (stage !== null) stages.set(name, stage);
  }
  return [...stages.values()];

  function run({ name, options, words, text }: Instruction, stage: Stage): Stage {
    switch (name) {
      case 'WORKDIR':
        mkdirSync(join(stage.layer, text), { recursive: true });
        return { ...stage, workdir: text };
      case 'COPY':
        copy(stage, words, options);
        return stage;
      case 'RUN':
        inLayer(stage, folder, text);
        return stage;
      case 'USER':
        return { ...stage, user: text };
      case 'ENV':
        return { ...stage, environment: { ...stage.environment, ...environmentOf(text) } };
      case 'ENTRYPOINT':
        return { ...stage, entrypoint: JSON.parse(text) };
      case 'CMD':
        return { ...stage, command: JSON.parse(text) };
      case 'HEALTHCHECK':
        return { ...stage, healthcheck: JSON.parse(text.replace(/^CMD /, '')) };
      case 'EXPOSE':
      case 'VOLUME':
        return stage;
      default:
        throw new Error(`this reader knows no ${name}`);
    }
  }

  function copy({ layer, workdir }: Stage, words: readonly string[], options: ReadonlyMap<string, string>): void {
    const sources = words.slice(0, -1);
    const to = words.at(-1) as string;
    const target = join(layer, to.startsWith('/') ? to : join(workdir, to));
    const from = options.get('from');
    const origin = from === undefined ? root : (stages.get(from) as Stage).layer;
    for (const source of sources) {
      const path = join(origin, source);
      // A folder gives its content, a file keeps its name.
      const isFile = /\.\w+$|\/tidemark$/.test(source) && source !== '.';
      const place = isFile && to.endsWith('/') ? join(target, basename(source)) : target;
      mkdirSync(isFile ? dirname(place) : place, { recursive: true });
      cpSync(path, place, {
        recursive: true,
        verbatimSymlinks: true,
        filter: (each) => from !== undefined || !isIgnored(relative(root, each)),
      });
      const mode = options.get('chmod');
      if (mode !== undefined) execFileSync('chmod', [mode, place]);
    }
  }

  function isIgnored(path: string): boolean {
    return ignored.some((pattern) => matchesGlob(path, pattern) || matchesGlob(path, `${pattern}/**`));
  }
}

/** Words, and texts in quotation marks. */
function environmentOf(text: string): Stage['environment'] {
  const pairs = text.matchAll(/(\w+)=(?:"([^"]*)"|(\S+))/g);
  return Object.fromEntries([...pairs].map(([, name, quoted, word]) => [name, quoted ?? word]));
}

/** The Node that the base image brings. */
const NODE = dirname(process.execPath);

/** Runs a command as root in a stage, whose layer takes what it writes. */
function inLayer({ layer, workdir }: Stage, folder: string, command: string): void {
  const [work, root] = [join(folder, `.${basename(layer)}-work`), join(folder, `.${basename(layer)}-root`)];
  for (const each of [work, root]) mkdirSync(each, { recursive: true });
  const mounts = `
    mount --make-rprivate /
    mount -t overlay overlay -o lowerdir=/,upperdir=${layer},workdir=${work} ${root}
    mount -t proc proc ${root}/proc; mount --bind /dev ${root}/dev`;
  const script = `set -e; ${mounts}; exec chroot ${root} sh -ec 'cd ${workdir}; ${command.replaceAll("'", "'\\''")}'`;
  execFileSync('unshare', ['--mount', 'bash', '-c', script], {
    env: { ...npmEnvironment(), PATH: `${NODE}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin` },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/** Where npm finds its registry. */
function npmEnvironment(): NodeJS.ProcessEnv {
  const kept =
    /^(HOME|(http|https|no|all)_proxy|NODE_EXTRA_CA_CERTS|npm_config_(registry|userconfig|globalconfig|cafile))$/i;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => kept.test(name)));
}

/**
 * Starts a command in a stage as a hardened container would: the root is read-only, the user has no capabilities, and `volume`
 * alone can be written, as /data.
 */
export function startInStage(
  stage: Stage,
  folder: string,
  volume: string,
  command: readonly string[],
  more: NodeJS.ProcessEnv,
) {
  const [root, work] = [join(folder, 'running'), join(folder, 'running-work')];
  for (const each of [work, root]) mkdirSync(each, { recursive: true });
  const [user, group] = stage.user.split(':');
  execFileSync('chown', [stage.user, volume]);
  const script = join(folder, 'start.sh');
  writeFileSync(
    script,
    `set -e
    mount --make-rprivate /
    mount -t overlay overlay -o ro,lowerdir=/,upperdir=${stage.layer},workdir=${work} ${root}
    mount -t proc -o subset=pid,hidepid=invisible proc ${root}/proc; mount --bind /dev ${root}/dev
    mount --bind ${volume} ${root}/data
    cd ${root}
    exec setpriv --no-new-privs --bounding-set=-all,+sys_chroot,+setuid,+setgid,+setpcap chroot ${root} \\
      setpriv --reuid ${user} --regid ${group} --clear-groups --bounding-set=-all --inh-caps=-all \\
      sh -c 'cd ${stage.workdir} && exec "$@"' sh "$@"`,
  );
  return spawn('unshare', ['--mount', 'bash', script, ...command], {
    env: { PATH: `${NODE}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin`, ...stage.environment, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}
