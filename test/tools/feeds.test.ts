/** Feeds and calendar, as a feed reader and a calendar program read them. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { WEEKDAYS } from '../../contract/freshness/cadence.ts';
import { type CalendarCadence, expectedNextAt, releasesBetween } from '../../contract/freshness/expected-next.ts';
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { createFilesWorld } from '../publisher/files-world.ts';
import { createWorld, market, price, readerOf } from '../publisher/world.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { runTool } from './run-tool.ts';
import { toolFolder } from './tool-folder.ts';

const PYTHON = join(toolFolder('python-tools'), 'bin', 'python');

const BASE = 'https://data.example/below/';

const FEED = `
import feedparser, json
feed = feedparser.parse(open("read", "rb").read(), response_headers={
    "content-type": "application/atom+xml", "content-location": "${BASE}feeds/markets/a.atom"})
print(json.dumps([bool(feed.bozo), feed.version, feed.feed.links[0].href, feed.feed.updated, [
    [e.id, e.title, e.link, e.author, [t.term for t in e.tags], e.updated, e.summary.partition(" Reason: ")[2]] for e in feed.entries]]))
`;

/** Every moment of two years, by the program's own reading of rules and exceptions. */
const CALENDAR = `
import datetime, icalendar, json
from dateutil.rrule import rruleset, rrulestr
calendar = icalendar.Calendar.from_ical(open("read", "rb").read())
assert not any(part.errors for part in calendar.walk()), [part.errors for part in calendar.walk()]
def dates(value):
    return [date.dt for each in (value if isinstance(value, list) else [value] if value else []) for date in each.dts]
moments = {}
for event in calendar.walk("VEVENT"):
    start, rules = event["DTSTART"].dt, rruleset()
    if "RRULE" in event: rules.rrule(rrulestr(event["RRULE"].to_ical().decode(), dtstart=start))
    else: rules.rdate(start)
    for date in dates(event.get("RDATE")): rules.rdate(date)
    for date in dates(event.get("EXDATE")): rules.exdate(date)
    utc = datetime.timezone.utc
    found = rules.between(datetime.datetime(2026, 1, 1, tzinfo=utc), datetime.datetime(2028, 1, 1, tzinfo=utc), inc=True)
    moments[str(event["SUMMARY"])] = [moment.strftime("%Y-%m-%dT%H:%M:%SZ") for moment in found]
print(json.dumps(moments))
`;

async function readBy(program: string, bytes: Uint8Array): Promise<unknown> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'read'), bytes);
  const { stdout, output } = await runTool(PYTHON, ['-c', program], { cwd: folder });
  if (stdout === '') throw new Error(output);
  return JSON.parse(stdout);
}

test('a feed reader finds every entry of a market, with absolute links', async () => {
  const world = createFilesWorld(createWorld(), ['feeds', 'market-feeds']);
  const odd = { ...price('a', 0, 100), sourceLabel: 'A & B <"c">' } as IngestRecordInput;
  await world.ingest([market('a'), odd]);
  world.clock.nowMs += 1000;
  const publicReason = '<script>alert(1)</script> &amp; ]]> =1+1';
  await world.ingest([{ ...odd, amountMinor: 200, publicReason } as IngestRecordInput], 'correct');
  await world.publish();
  const { body } = await readerOf(world.objects)('/feeds/markets/a.atom');
  const [first, second] = [world.clock.nowMs, world.clock.nowMs - 1000].map((ms) => new Date(ms).toISOString());
  const id = expect.stringMatching(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const link = 'https://data.example/below/market/index.html?slug=a';
  expect(await readBy(FEED, body)).toEqual([
    false,
    'atom10',
    'https://data.example/below/feeds/markets/a.atom',
    first,
    [
      [
        id,
        'a: 2.00 USD, corrected from 1.00 USD (2026-01-01T00:00:00Z)',
        link,
        'A & B <"c">',
        ['correction'],
        first,
        publicReason,
      ],
      [id, 'a: 1.00 USD (2026-01-01T00:00:00Z)', link, 'A & B <"c">', ['new-value'], second, ''],
    ],
  ]);
});

test('a feed reader finds an incident that is over, with its link to the status page', async () => {
  const world = createFilesWorld(createWorld(), ['feeds']);
  await world.ingest([market('a'), price('a', 0, 100)]);
  await world.publish();
  await world.ingest([price('a', 1, 100)]);
  world.clock.nowMs += 6 * 60_000;
  await world.publish();
  const { body } = await readerOf(world.objects)('/feeds/incidents.atom');
  const endedAt = new Date(world.clock.nowMs).toISOString();
  const id = expect.stringMatching(/^urn:uuid:/);
  const title = 'Changes of 1 market waited for more than five minutes until they were published.';
  // It reads the feed as if it were in the folder of the feeds of markets.
  const [self, page] = ['incidents.atom', '../status/'].map(
    (path) => new URL(path, `${BASE}feeds/markets/a.atom`).href,
  );
  const entry = [id, title, page, 'Tidemark', ['publication-late'], endedAt, ''];
  expect(await readBy(FEED, body)).toEqual([false, 'atom10', self, endedAt, [entry]]);
});

test('a calendar program finds the releases of every kind of cadence at their moments', async () => {
  const base = { graceSeconds: 60, holidays: [], releaseAfterDays: 0, releaseTime: '15:30', weekdays: [...WEEKDAYS] };
  const workdays = WEEKDAYS.slice(0, 5);
  const cadences: readonly CalendarCadence[] = [
    { ...base, period: 'day' },
    { ...base, period: 'day', weekdays: workdays, releaseAfterDays: 2, holidays: ['12-25', 'easter-2', '2026-05-01'] },
    { ...base, period: 'week', releaseAfterDays: 9, weekdays: workdays },
    { ...base, period: 'month', releaseAfterDays: 14, weekdays: workdays, holidays: ['01-15', '06-15'] },
    { ...base, period: 'quarter', releaseAfterDays: 4, weekdays: workdays },
    { ...base, period: 'quarter', releaseAfterDays: 45 },
    { ...base, period: 'half-year', releaseAfterDays: 3 },
    { ...base, period: 'year', weekdays: workdays },
  ];
  const world = createFilesWorld(createWorld(), ['feeds']);
  const source = { url: 'https://example.com/', publisher: null, licence: null, attribution: null };
  for (const [index, cadence] of cadences.entries()) {
    const [slug, label] = [`m${index}`, `source, ${index}`];
    const sources = [{ ...source, label, cadence }];
    await world.ingest([
      { ...(market(slug) as object), sources } as IngestRecordInput,
      { ...price(slug, 100, 1), sourceLabel: label } as IngestRecordInput,
    ]);
  }
  await world.publish();
  const { body } = await readerOf(world.objects)('/feeds/releases.ics');
  // A calendar begins with the year in which the next value is expected.
  const firstYear = (cadence: CalendarCadence) => Number(expectedNextAt(cadence, '2026-04-11T00:00:00Z').slice(0, 4));
  const instant = (ms: number) => new Date(ms).toISOString().replace('.000Z', 'Z');
  const expected = cadences.map((cadence, index) => [
    `source, ${index}`,
    releasesBetween(cadence, Date.UTC(firstYear(cadence), 0, 1), Date.UTC(2028, 0, 1)).map(instant),
  ]);
  expect(await readBy(CALENDAR, body)).toEqual(Object.fromEntries(expected));
});
