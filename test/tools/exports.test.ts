/**
 * The daily export of a running server, as DuckDB, pandas and curl read it: DuckDB over HTTP with its extension httpfs, by
 * ranges. The commands of docs/exports.md are run as they stand there.
 */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { EXPORT_TABLES, type ExportColumn } from '../../contract/bodies/export-tables.ts';
import { sampleServerForAll } from '../server/sample-server.ts';
import { runTool } from './run-tool.ts';
import { toolFolder } from './tool-folder.ts';

const PYTHON = join(toolFolder('python-tools'), 'bin', 'python');
const DOCS = readFileSync(fileURLToPath(new URL('../../docs/exports.md', import.meta.url)), 'utf8');

/** Runs statements one after the other, and prints the rows of the last as JSON. */
const DUCKDB = `
import glob, json, sys, duckdb, duckdb_ext
db = duckdb.connect()
db.execute("SET TimeZone = 'UTC'")
db.execute("LOAD '%s'" % glob.glob(list(duckdb_ext.__path__)[0] + "/extensions/*/*/httpfs.duckdb_extension")[0])
rows = []
for statement in open(sys.argv[1], encoding="utf-8").read().split(";\\n"):
    if statement.strip(): rows = db.execute(statement).fetchall()
print(json.dumps(rows, default=str))
`;

const server = sampleServerForAll('all');

async function duckdb(sql: string): Promise<readonly (readonly unknown[])[]> {
  const file = join(server.folder, `${Math.random()}.sql`);
  await writeFile(file, sql.replaceAll('http://127.0.0.1:8787', server.url));
  const { exitCode, output } = await runTool(PYTHON, ['-c', DUCKDB, file], { cwd: server.folder });
  if (exitCode !== 0) throw new Error(output);
  return JSON.parse(output) as readonly (readonly unknown[])[];
}

interface Resource {
  readonly name: string;
  readonly path: string;
  readonly rows: number;
}

async function resourceOf(name: string): Promise<Resource> {
  const { resources } = (await (await fetch(`${server.url}/api/v1/exports/latest`)).json()) as {
    resources: Resource[];
  };
  return resources.find((resource) => resource.name === name) as Resource;
}

const SQL_TYPES: { readonly [Type in ExportColumn['type']]: string } = {
  text: 'VARCHAR',
  integer: 'BIGINT',
  number: 'DOUBLE',
  boolean: 'BOOLEAN',
  instant: 'TIMESTAMPTZ',
};

describe.each(EXPORT_TABLES)('the table of $name', ({ name, columns }) => {
  const typed = `{${columns.map((column) => `'${column.name}': '${SQL_TYPES[column.type]}'`).join(', ')}}`;

  test('has the same rows in Parquet, NDJSON and CSV, with these columns and types', async () => {
    const url = async (format: string) =>
      `'${server.url}/api/v1/exports/${(await resourceOf(`${name}-0-${format}`)).path}'`;
    const sources = [
      `read_parquet(${await url('parquet')})`,
      `read_json(${await url('ndjson')}, format = 'newline_delimited', compression = 'gzip', columns = ${typed})`,
      `read_csv(${await url('csv')}, compression = 'gzip', header = true, columns = ${typed}, strict_mode = true)`,
    ];
    const described = await duckdb(`DESCRIBE SELECT * FROM ${sources[0]}`);
    expect(described.map(([column, type]) => [column, type])).toEqual(
      columns.map((column) => [column.name, SQL_TYPES[column.type].replace('TIMESTAMPTZ', 'TIMESTAMP WITH TIME ZONE')]),
    );
    const { rows } = await resourceOf(`${name}-0-parquet`);
    expect(rows).toBeGreaterThan(100);
    const missing = sources
      .slice(1)
      .map((source) => `(SELECT * FROM ${sources[0]} EXCEPT ALL SELECT * FROM ${source})`);
    const counts = [...sources, ...missing].map((from) => `(SELECT count(*) FROM ${from})`);
    expect(await duckdb(`SELECT ${counts.join(', ')}`)).toEqual([[rows, rows, rows, 0, 0]]);
  });
});

test('DuckDB asks for ranges, and for fewer bytes than the file has', async () => {
  const { path } = await resourceOf('observations-0-parquet');
  const url = `${server.url}/api/v1/exports/${path}`;
  const size = Number((await fetch(url, { method: 'HEAD' })).headers.get('content-length'));
  const rows = await duckdb(
    `CALL enable_logging('HTTP');
SELECT max(amountMinor) FROM read_parquet('${url}');
SELECT response.status::VARCHAR, response.headers['Content-Length'] FROM duckdb_logs_parsed('HTTP') WHERE request.type = 'GET'`,
  );
  expect(rows.length).toBeGreaterThan(0);
  expect(new Set(rows.map(([status]) => status))).toEqual(new Set(['PartialContent_206']));
  expect(rows.reduce((sum, [, bytes]) => sum + Number(bytes), 0)).toBeLessThan(size / 2);
});

describe('the examples of docs/exports.md', () => {
  function block(language: string): string {
    const [, text = ''] = new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(DOCS) ?? [];
    return text.replaceAll('http://127.0.0.1:8787', server.url);
  }

  test('DuckDB: the newest prices of gold', async () => {
    const rows = await duckdb(block('sql'));
    expect(rows).toHaveLength(3);
    expect(rows[0]).toEqual(['2026-09-29', '4129.10', expect.stringContaining('https://')]);
  });

  test('pandas', async () => {
    const { exitCode, output } = await runTool(PYTHON, ['-c', block('python')], { cwd: server.folder });
    expect([exitCode, output]).toEqual([0, expect.stringContaining('price')]);
  });

  test('curl', async () => {
    const { exitCode, output } = await runTool('bash', ['-euo', 'pipefail', '-c', block('sh')], { cwd: server.folder });
    expect([exitCode, output]).toEqual([0, 'part: OK\n']);
  });
});
