/** Rules that no compiler checks: allowed imports, unique names, and allowed packages. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { transformSync } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { installedPackages, isAllowed, LICENCES_OF_TOOLS, LICENCES_TO_SHIP, licenceOf } from './licences.ts';

const ROOT = join(import.meta.dirname, '..');

/** The part of the contract from which the edge router is built: constants and pure functions in a small language. */
const EDGE_CONTRACT = [
  'problems/edge-problems',
  'files/limits',
  'files/object-paths',
  'files/page-headers',
  'files/public-object-names',
  'files/public-objects',
  'files/routes',
].map((name) => `contract/${name}.ts`);

/**
 * Each top-level folder with TypeScript in it, and the places outside itself that it may import: folders or files.
 * The order is that in which data flows, so an arrow that would point backwards has no row to stand in.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  storage: ['contract/'],
  mapping: ['contract/'],
  lambdas: ['contract/', 'storage/', 'mapping/'],
  publisher: ['contract/', 'storage/'],
  server: ['contract/', 'storage/', 'mapping/', 'lambdas/', 'publisher/', 'infra/edge/'],
  infra: [
    ...EDGE_CONTRACT,
    'contract/log/origin.ts',
    'contract/files/projections.ts',
    'contract/operations/scopes.ts',
    'contract/values/operator.ts',
    'contract/values/waitlist.ts',
    'storage/aws/names.ts',
    'storage/records/',
  ],
  // Readers install the client alone.
  clients: ['contract/'],
  // It speaks to a service over HTTP. Only the commands of a data folder run the service's own code.
  cli: [
    ...['contract/', 'storage/', 'mapping/', 'publisher/', 'clients/typescript/'],
    ...[
      'server/commands/',
      'server/doctor/',
      'server/git/write-past.ts',
      'server/run/',
      'server/state/state-key.ts',
      'server/target/static-host.ts',
      'server/terminal/',
      'server/service/start-error.ts',
      'server/settings/settings-help.ts',
      'server/backup/control-socket.ts',
    ],
  ],
  tools: ['contract/', 'storage/', 'mapping/', 'lambdas/', 'publisher/', 'server/', 'infra/', 'clients/', 'test/'],
  // Examples import the published client.
  docs: [],
  test: [''],
};

/**
 * Code that runs only in AWS, in a bundle: folders, or beginnings of files. It may import these development dependencies.
 */
const BUNDLED = [
  'lambdas/entry/',
  'publisher/entry/',
  'lambdas/sources/entry/',
  'publisher/notify/purge-cloudfront.ts',
  'storage/dynamodb/',
  'storage/s3/',
  'storage/aws/environment-credentials.ts',
];
const BUNDLED_DEPENDENCIES = /^@(aws-sdk|smithy)\//;

/** Loads bundled code when it is asked to. What that needs is an optional dependency of the package. */
const LOADS_ON_DEMAND = 'server/target/bucket-target.ts → storage/s3/bucket-target.ts';

/** Names that node:http, node:net and the streams keep for themselves: they may disappear with any release. */
const PRIVATE_OF_NODE = [
  /(?:\.|\?\.)_(?!_proto__)[a-zA-Z]\w*/,
  /\[\s*['"`]_/,
  /\bk[A-Z]\w*Symbol\b|\bkOutHeaders\b|\bkHandle\b/,
  /\bgetOwnPropertySymbols\b/,
  /\bprocess\.binding\b|\binternalBinding\b|\b_linkedBinding\b/,
  /['"`](?:node:)?_(?:http|stream|tls)_/,
];

/** Ways to the output and error streams of the process. */
const PRINTS =
  /\bprocess\.std(?:out|err)\b|\{[^}]*\bstd(?:out|err)\b[^}]*\} = process\b|\bconsole\b|\b(?:write|append)\w*Sync\([12],|\/dev\/(?:std|tty|fd)/;

/** Where functions begin. */
const ENTRY_FOLDERS = ['lambdas/entry/', 'publisher/entry/', 'lambdas/sources/entry/'];

/** Folders whose code runs with `dependencies` alone, as for `npm start`. Without bundled code. */
const SHIPPED = [
  'contract',
  'storage',
  'mapping',
  'lambdas',
  'publisher',
  'server',
  'infra/edge',
  'clients/typescript',
  'cli',
];

/** `node:` modules without I/O and clocks. A stream only passes data on, and zlib only changes it. */
const PURE_NODE_MODULES = ['node:crypto', 'node:stream', 'node:zlib'];

/** Folders with rules only. */
const PURE_FOLDERS = ['contract', 'mapping', 'clients/typescript'];

/** A client is of no use without clock, chance and network. It takes them from here unless its caller gives others. */
const EDGE_OF_CLIENT = 'clients/typescript/system.ts';

/** Globals that read a clock, random numbers, the environment or the network. */
const IMPURE = [
  /\bDate\.now\b/,
  /\bnew Date(?!\()/,
  /\bnew Date\(\)/,
  /(?<!new )\bDate\(/,
  /\bperformance\./,
  /\bMath\.random\b/,
  /\brandom(UUID|Bytes|Int|FillSync)\b/,
  /\bgetRandomValues\b/,
  /\bprocess\./,
  /\bfetch\(/,
  /\bset(Timeout|Interval|Immediate)\(/,
  /\bconsole\./,
];

/**
 * The files of lambdas/ that write to the ledger: the commit of requests, which adds idempotency and audit records, and
 * the service's own work. Handlers only decide.
 */
const LEDGER_WRITERS = [
  'lambdas/accounts/carry-over.ts',
  'lambdas/accounts/run-erasure.ts',
  'lambdas/credentials/operator-key.ts',
  'lambdas/ingest/ingest-batch.ts',
  'lambdas/ingest/queue-upload.ts',
  'lambdas/ingest/run-batch.ts',
  'lambdas/ingest/run-together.ts',
  'lambdas/ingest/run-upload.ts',
  'lambdas/markets/commit-markets.ts',
  'lambdas/pipeline/commit.ts',
  'lambdas/review/seal-audit.ts',
  'lambdas/sources/past/take-in-past.ts',
  'lambdas/sources/run/claimed-run.ts',
  'lambdas/sources/run/end-run.ts',
  'lambdas/sources/run/run-due.ts',
  'lambdas/worker/contended.ts',
  'lambdas/worker/leases.ts',
  'lambdas/worker/run-announced.ts',
  'lambdas/worker/run-refresh.ts',
];

/** Where the items of the ledger get the type that their key or range names. Everywhere else they have it. */
const TYPED_HERE = [
  'lambdas/markets/dry-run-ledger.ts',
  'storage/ports/conflict-items.ts',
  'storage/dynamodb/dynamodb-ledger.ts',
  'storage/ports/paging.ts',
  'storage/sqlite/sqlite-ledger.ts',
];

/** A cast of an item of the ledger, or of its value. */
const CAST_ITEM =
  /\b(?:value\)?|item) as (?!const\b)|\bas (?:readonly )?\(?(?:Item|WorkItem|Versioned)\b|\bas \w+Value\b(?!\[)/;

const LINES_AT_MOST = 400;
/** A room with more files is two concerns. */
const FILES_OF_A_ROOM = 20;

interface Import {
  readonly file: string;
  /** The text between `import` and `from`; empty for dynamic imports and imports for effect. */
  readonly clause: string;
  readonly specifier: string;
  /** The imported file, relative to the root; null for packages and `node:` modules. */
  readonly target: string | null;
}

interface LockedPackage {
  readonly version: string;
  readonly resolved?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
}

const manifest = readJson('package.json') as {
  readonly dependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
  readonly peerDependencies: Record<string, string>;
  readonly allowScripts: Record<string, boolean>;
};
const lock = (readJson('package-lock.json') as { readonly packages: Record<string, LockedPackage> }).packages;
const lockedPackages = Object.entries(lock).filter(([path]) => path !== '');

const files = sourceFiles();
const imports = files.filter((file) => file.endsWith('.ts')).flatMap(importsOf);

describe('imports', () => {
  it('come from folders that are in the table', () => {
    const folders = new Set(files.filter((file) => file.includes('/')).map(topFolder));
    expect([...folders].filter((folder) => !(folder in MAY_IMPORT))).toEqual([]);
  });

  it.each(Object.entries(MAY_IMPORT))('of %s/ point only at %j and itself', (folder, allowed) => {
    const own = imports.filter(({ file, target }) => target !== null && topFolder(file) === folder);
    const places = [`${folder}/`, ...allowed];
    expect(own.filter(({ target }) => !places.some((place) => target?.startsWith(place))).map(inWords)).toEqual([]);
  });

  it('of the files that the edge router is built from stay among them', () => {
    expect(EDGE_CONTRACT.filter((file) => !files.includes(file))).toEqual([]);
    const own = imports.filter(({ file }) => EDGE_CONTRACT.includes(file));
    expect(own.filter(({ target }) => target === null || !EDGE_CONTRACT.includes(target)).map(inWords)).toEqual([]);
  });

  it('name files that exist, and packages that package.json names', () => {
    const packages = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });
    const lost = imports.filter(({ specifier, target }) =>
      target === null
        ? !specifier.startsWith('node:') && !packages.includes(packageName(specifier))
        : !existsSync(join(ROOT, target)),
    );
    expect(lost.map(inWords)).toEqual([]);
  });

  it('of shipped code name no development dependency, except for types', () => {
    const shipped = imports.filter(({ file }) => isShipped(file));
    const missing = shipped.filter(
      ({ clause, specifier, target }) =>
        target === null &&
        !clause.startsWith('type ') &&
        !isBuiltin(specifier) &&
        !(packageName(specifier) in manifest.dependencies),
    );
    expect(missing.map(inWords)).toEqual([]);
  });

  it('of bundled code name the AWS SDK, and no other development dependency', () => {
    const added = imports.filter(
      ({ file, specifier, target }) =>
        isBundled(file) &&
        target === null &&
        !isBuiltin(specifier) &&
        !(packageName(specifier) in manifest.dependencies),
    );
    expect(added.filter(({ specifier }) => !BUNDLED_DEPENDENCIES.test(specifier)).map(inWords)).toEqual([]);
  });

  it('of the AWS SDK are made only by bundled code, and by tests', () => {
    const users = imports.filter(({ specifier }) => BUNDLED_DEPENDENCIES.test(specifier));
    expect(users.filter(({ file }) => !isBundled(file) && topFolder(file) !== 'test').map(inWords)).toEqual([]);
  });

  it('of bundled code are not made by what runs without it, except for types', () => {
    const own = imports.filter(
      ({ clause, target }) => target !== null && isBundled(target) && !clause.startsWith('type '),
    );
    const shipped = own.filter(({ file }) => isShipped(file));
    expect(shipped.map(({ file, target }) => `${file} → ${target}`)).toEqual([LOADS_ON_DEMAND]);
    expect(shipped.map(({ clause }) => clause)).toEqual(['']);
    expect(Object.keys(manifest.peerDependencies)).toEqual(['@aws-sdk/client-s3']);
  });

  it('of entry points do not exist: a function begins there', () => {
    const own = imports.filter(({ target }) => ENTRY_FOLDERS.some((folder) => target?.startsWith(folder)));
    const others = own.filter(({ file }) => topFolder(file) !== 'test' && !ENTRY_FOLDERS.includes(`${dirname(file)}/`));
    expect(others.map(inWords)).toEqual([]);
  });

  it('of the kernel of the publisher lead to no projection', () => {
    const around = ['core', 'projections', 'repair', 'entry'].map((room) => `publisher/${room}/`);
    const outside = [...around, 'publisher/projections.ts', 'publisher/publish.ts'];
    const wrong = imports.filter(
      ({ file, target }) => file.startsWith('publisher/kernel/') && outside.some((place) => target?.startsWith(place)),
    );
    expect(wrong.map(({ file, target }) => `${file} → ${target}`)).toEqual([]);
  });

  it('into the folder of a projection come from the list alone', () => {
    const folderOf = (file: string) => /^publisher\/projections\/[^/]+\//.exec(file)?.[0];
    const wrong = imports.filter(({ file, target }) => {
      const folder = target === null ? undefined : folderOf(target);
      const isAllowed = folder === undefined || file.startsWith(folder) || file === 'publisher/projections.ts';
      return !isAllowed && !file.startsWith('test/') && !file.startsWith('tools/bench/');
    });
    expect(wrong.map(({ file, target }) => `${file} → ${target}`)).toEqual([]);
  });

  it('and names of projections stay in their folders', () => {
    const rooms = ['kernel', 'core', 'verify', 'repair', 'entry', 'notify'].map((room) => `publisher/${room}/`);
    const loose = files.filter((file) => /^publisher\/[^/]+\.ts$/.test(file) && file !== 'publisher/projections.ts');
    const own = files.filter((file) => [...rooms, 'server/', 'lambdas/'].some((room) => file.startsWith(room)));
    // `latest` and `pages` are also words of records.
    const name = /'(?:exports|compat|history-files|recent|statics)'/;
    expect([...loose, ...own].filter((file) => name.test(read(file)))).toEqual([]);
  });

  it('and comments name files that exist', () => {
    const known = new Set(files.map((file) => basename(file)));
    const named = files.flatMap((file) =>
      [...read(file).matchAll(/^ *(?:\/?\*|\/\/).*/gm)].flatMap(([comment]) =>
        [...comment.matchAll(/[\w-]+\.ts\b/g)].flatMap(([name]) => (known.has(name) ? [] : `${file} → ${name}`)),
      ),
    );
    expect(named).toEqual([]);
  });

  it('make no circle, those of types included', () => {
    expect(circlesOf(imports)).toEqual([]);
  });

  // `import { z }` pulls every locale into a bundle: 444 KB instead of 91.
  it('of zod are namespace imports', () => {
    const named = imports.filter(
      ({ clause, specifier }) => packageName(specifier) === 'zod' && clause.replace(/^type /, '') !== '* as z',
    );
    expect(named.map(inWords)).toEqual([]);
  });
});

describe.each(PURE_FOLDERS)('%s/ is pure', (folder) => {
  it('imports no node: module that does I/O', () => {
    const builtin = imports.filter(({ file, specifier }) => file.startsWith(`${folder}/`) && isBuiltin(specifier));
    expect(builtin.filter(({ specifier }) => !PURE_NODE_MODULES.includes(specifier)).map(inWords)).toEqual([]);
  });

  it('reads no clock, chance or environment', () => {
    const pure = files.filter((file) => file.startsWith(`${folder}/`) && file !== EDGE_OF_CLIENT);
    expect(pure.filter((file) => IMPURE.some((pattern) => pattern.test(codeOf(file))))).toEqual([]);
  });
});

describe('server/edge/', () => {
  it('uses nothing that Node keeps for itself', () => {
    const own = files.filter((file) => file.startsWith('server/edge/'));
    expect(own.flatMap((file) => PRIVATE_OF_NODE.flatMap((name) => name.exec(codeOf(file))?.[0] ?? []))).toEqual([]);
  });
});

describe('cli/', () => {
  /** It starts with any Node, so it imports nothing; it prints texts of its own. */
  const own = files.filter((file) => topFolder(file) === 'cli' && file !== 'cli/tidemark.mjs');

  it('prints in one place, which escapes what a terminal would obey', () => {
    const printers = own.filter((file) => PRINTS.test(read(file)));
    expect(printers).toEqual(['cli/program/output.ts']);
  });
});

describe('lambdas/', () => {
  const own = files.filter((file) => topFolder(file) === 'lambdas');

  it('writes to the ledger in few places, and no handler is one of them', () => {
    expect(own.filter((file) => /\btransact\b\s*[(\]'"]/.test(read(file)))).toEqual(LEDGER_WRITERS);
  });

  it('makes the answer of a write only where it commits', () => {
    const makers = own.filter((file) => /\bas (?:unknown as )?Committed\b/.test(read(file)));
    expect(makers).toEqual(['lambdas/pipeline/commit.ts']);
  });
});

describe('what the ledger returns', () => {
  const readers = files.filter((file) => ['storage', 'lambdas', 'publisher'].includes(topFolder(file)));

  it('is cast nowhere but where it gets its type', () => {
    const casts = readers
      .filter((file) => !TYPED_HERE.includes(file))
      .flatMap((file) => [...read(file).split('\n').entries()].map(([line, text]) => ({ file, line: line + 1, text })))
      .filter(({ text }) => CAST_ITEM.test(text) && !/^ *(?:\/?\*|\/\/)/.test(text));
    expect(casts.map(({ file, line, text }) => `${file}:${line}: ${text.trim()}`)).toEqual([]);
  });
});

describe('exported names', () => {
  it('are unique, tests apart, but for the handlers that Lambda and CloudFront call by this name', () => {
    const exporters = new Map<string, string[]>();
    for (const file of files.filter((file) => topFolder(file) !== 'test')) {
      const names = exportsOf(read(file)).filter((name) => name !== 'handler' || !mayExportHandler(file));
      for (const name of names) exporters.set(name, [...(exporters.get(name) ?? []), file]);
    }
    const shared = [...exporters].filter(([, places]) => places.length > 1);
    expect(shared.map(([name, places]) => `${name}: ${places.join(', ')}`)).toEqual([]);
    expect(exporters.size).toBeGreaterThan(500);
  });
});

describe('files', () => {
  it(`have at most ${LINES_AT_MOST} lines, tests apart`, () => {
    const long = files.filter((file) => topFolder(file) !== 'test' && lines(file) > LINES_AT_MOST);
    expect(long.map((file) => `${file}: ${lines(file)} lines`)).toEqual([]);
  });

  it(`are at most ${FILES_OF_A_ROOM} in a room, tests apart`, () => {
    const rooms = Map.groupBy(
      files.filter((file) => topFolder(file) !== 'test'),
      (file) => dirname(file),
    );
    const large = [...rooms].filter(([, { length }]) => length > FILES_OF_A_ROOM);
    expect(large.map(([room, { length }]) => `${room}: ${length} files`)).toEqual([]);
  });
});

describe('dependencies', () => {
  it('are pinned to exact versions', () => {
    const all = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(all.filter(([, version]) => !/^\d+\.\d+\.\d+(-[0-9a-z.]+)?$/.test(version))).toEqual([]);
  });

  it('are the same in package.json and package-lock.json', () => {
    expect(lock['']?.dependencies).toEqual(manifest.dependencies);
    expect(lock['']?.devDependencies).toEqual(manifest.devDependencies);
  });

  it('come from the configured registry of npm: the lock file names no registry', () => {
    expect(lockedPackages.filter(([, { resolved }]) => resolved?.includes('://')).map(([path]) => path)).toEqual([]);
  });

  it('run an install script only after a decision about that version', () => {
    const scripted = lockedPackages.filter(([, { hasInstallScript }]) => hasInstallScript);
    const decided = scripted.map(([path, { version }]) => `${path.replace(/^.*node_modules\//, '')}@${version}`);
    expect(Object.keys(manifest.allowScripts).sort()).toEqual([...new Set(decided)].sort());
  });

  it('have licences that we can work with', () => {
    const refused = installedPackages(ROOT, 'node_modules').flatMap((path) => {
      const isTool = lock[path]?.dev === true || lock[path]?.devOptional === true;
      const licence = licenceOf(readJson(`${path}/package.json`));
      return isAllowed(licence, isTool ? LICENCES_OF_TOOLS : LICENCES_TO_SHIP) ? [] : `${path}: ${licence}`;
    });
    expect(refused).toEqual([]);
  });
});

/** Every file that people write code in, relative to the root. */
function sourceFiles(): string[] {
  const skipped = ['node_modules', 'cdk.out', 'dist'];
  return globSync('**/*.{ts,mjs}', { cwd: ROOT, exclude: (name) => skipped.includes(name) || name.startsWith('.') })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !/^(?:infra|clients\/python)\/build\//.test(file))
    .sort();
}

function isBundled(file: string): boolean {
  return BUNDLED.some((place) => file.startsWith(place));
}

function isShipped(file: string): boolean {
  return SHIPPED.some((folder) => file.startsWith(`${folder}/`)) && !isBundled(file);
}

function importsOf(file: string): Import[] {
  // This file spells imports of files that do not exist.
  if (file === relative(ROOT, import.meta.filename)) return [];
  return parseImports(file, read(file));
}

/** Static imports and re-exports start a line, as the formatter leaves them; dynamic ones may stand anywhere. */
function parseImports(file: string, source: string): Import[] {
  const statements = /^(?:import|export)\s+(?:([^'"`;]*?)\s+from\s+)?['"]([^'"]+)['"]/gm;
  const calls = /\b(?:import|require|require\.resolve)\(\s*['"`]([^'"`]+)['"`]/g;
  return [
    ...[...source.matchAll(statements)].map((match) => ({ clause: match[1] ?? '', specifier: match[2] ?? '' })),
    ...[...source.matchAll(calls)].map((match) => ({ clause: '', specifier: match[1] ?? '' })),
  ].map(({ clause, specifier }) => ({
    file,
    clause,
    specifier,
    target: specifier.startsWith('.') ? relative(ROOT, join(ROOT, dirname(file), specifier)) : null,
  }));
}

/** The names that a file exports, in order. Overloads of a function count once. */
function exportsOf(source: string): readonly string[] {
  const declared =
    /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm;
  const listed = /^export (?:type )?\{([^}]*)\}/gm;
  return [
    ...new Set([...source.matchAll(declared)].map((match) => match[1] as string)),
    ...[...source.matchAll(listed)].flatMap(([, names = '']) =>
      names.split(',').flatMap((name) => /(\w+)\s*$/.exec(name)?.[1] ?? []),
    ),
  ];
}

function mayExportHandler(file: string): boolean {
  return file === 'infra/edge/router.ts' || ENTRY_FOLDERS.includes(`${dirname(file)}/`);
}

/** Each circle once, from the file by which it was found. */
function circlesOf(edges: readonly { readonly file: string; readonly target: string | null }[]): readonly string[] {
  const targets = Map.groupBy(edges, ({ file }) => file);
  const circles: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' → '));
    if (path.includes(file) || done.has(file)) return;
    for (const { target } of targets.get(file) ?? []) if (target !== null) visit(target, [...path, file]);
    done.add(file);
  };
  for (const file of targets.keys()) visit(file, []);
  return circles;
}

function inWords({ file, specifier }: Import): string {
  return `${file} imports ${specifier}`;
}

function topFolder(file: string): string {
  return file.slice(0, file.indexOf('/'));
}

function packageName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function lines(file: string): number {
  return read(file).trimEnd().split('\n').length;
}

/** Without types and comments, so that a comment may name a forbidden function. */
function codeOf(file: string): string {
  return transformSync(read(file), { loader: 'ts', minifyWhitespace: true, legalComments: 'none' }).code;
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

function readJson(file: string): unknown {
  return JSON.parse(read(file));
}
