/** The dashboard for Grafana and the sensor for Home Assistant: what they select is in files that a service publishes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { createFilesWorld } from '../publisher/files-world.ts';
import { createWorld, market, price, readerOf } from '../publisher/world.ts';

const SLUG = 'gold-usd';
const textOf = (file: string) => readFileSync(join(import.meta.dirname, '../../docs/examples', file), 'utf8');

let read: (path: string) => Promise<string>;
beforeAll(async () => {
  const world = createFilesWorld(createWorld(), ['history-files', 'latest']);
  await world.ingest([market(SLUG), price(SLUG, 0, 412_910), price(SLUG, 1, 412_345)]);
  await world.publish();
  read = async (path) => {
    const { status, body } = await readerOf(world.objects)(path);
    expect(status, path).toBe(200);
    return Buffer.from(body).toString();
  };
});

/** As the data source takes them: github.com/grafana/grafana-infinity-datasource, pkg/models/query.go. */
const targetSchema = z.strictObject({
  refId: z.string(),
  type: z.enum(['csv', 'json']),
  source: z.literal('url'),
  parser: z.literal('backend'),
  format: z.enum(['table', 'timeseries']),
  url: z.string(),
  url_options: z.strictObject({ method: z.literal('GET'), data: z.literal('') }),
  root_selector: z.string(),
  columns: z.array(
    z.strictObject({ selector: z.string(), text: z.string(), type: z.enum(['string', 'number', 'timestamp']) }),
  ),
  filterExpression: z.string().optional(),
});
const dashboardSchema = z.looseObject({
  templating: z.object({ list: z.array(z.object({ name: z.string(), type: z.string(), query: z.string() })) }),
  panels: z.array(z.looseObject({ title: z.string(), targets: z.array(targetSchema).length(1) })),
});
type Target = z.infer<typeof targetSchema>;

/** The rows that a target selects of a file. */
function rowsOf({ type, root_selector: root }: Target, text: string): readonly Record<string, unknown>[] {
  if (type === 'json') return JSON.parse(text)[root];
  // The files of the test have no quotes in them.
  const [header = [], ...rows] = text
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','));
  return rows.map((row) => Object.fromEntries(header.map((name, index) => [name, row[index]])));
}

const IS_OF_TYPE = {
  string: (value: unknown) => typeof value === 'string',
  number: (value: unknown) => value !== '' && Number.isFinite(Number(value)),
  timestamp: (value: unknown) => !Number.isNaN(Date.parse(String(value))),
};

test('each panel of the dashboard selects columns that its file has, of their types', async () => {
  const { templating, panels } = dashboardSchema.parse(JSON.parse(textOf('grafana/dashboard.json')));
  const values = new Map(templating.list.map(({ name, query }) => [name, query]));
  expect(values.get('market')).toBe(SLUG);
  expect(panels).toHaveLength(2);
  for (const { title, targets } of panels) {
    const target = targets[0] as Target;
    const url = target.url.replace(/\$\{(\w+)\}/g, (_, name) => values.get(name) ?? '');
    const rows = rowsOf(target, await read(new URL(url).pathname));
    expect(rows.length, title).toBeGreaterThan(0);
    for (const row of rows)
      for (const { selector, type } of target.columns)
        expect(IS_OF_TYPE[type](row[selector]), `${title}: ${selector}`).toBe(true);
    const filtered = /^(\w+) == '(\w+)'$/.exec(target.filterExpression ?? '');
    if (filtered !== null) expect(rows.some((row) => row[filtered[1] as string] === filtered[2])).toBe(true);
    expect(target.filterExpression === undefined).toBe(filtered === null);
  }
});

test('the sensor selects a number, and attributes that the market has', async () => {
  const { rest } = parse(textOf('home-assistant/configuration.yaml'));
  const [{ resource, sensor }] = rest;
  const body = JSON.parse(await read(new URL(resource).pathname));
  const valueAt = (path: string) => path.split('.').reduce((value, name) => value[name], body);
  for (const { value_template: template, availability, json_attributes_path: path, json_attributes: names } of sensor) {
    const selected = /^\{\{ value_json\.([\w.]+) \}\}$/.exec(template)?.[1] as string;
    expect(valueAt(selected)).toBe('4123.45');
    expect(availability).toBe(`{{ value_json.${selected} is not none }}`);
    const attributes = valueAt(path.replace(/^\$\./, ''));
    for (const name of names) expect(attributes[name], name).toEqual(expect.any(String));
  }
});
