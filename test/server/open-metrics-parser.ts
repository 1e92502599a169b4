/** A strict reader of what we write of OpenMetrics 1.0: it throws at the first line that the specification forbids. */

export interface ParsedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const NAME = '[a-zA-Z_][a-zA-Z0-9_]*';
const TEXT = '(?:[^"\\\\\\n]|\\\\["\\\\n])*';
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(${NAME}="${TEXT}"(?:,${NAME}="${TEXT}")*)\\})? (\\S+)$`);
const NUMBER = /^(?:-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|NaN|[+-]Inf)$/;
const SUFFIXES: Readonly<Record<string, string>> = { gauge: '', counter: '_total', info: '_info', summary: '' };

export function parseOpenMetrics(text: string): readonly ParsedSample[] {
  if (!text.endsWith('\n# EOF\n')) throw new Error('does not end with # EOF');
  const samples: ParsedSample[] = [];
  const families = new Set<string>();
  const seen = new Set<string>();
  let family = { name: '', type: '' };
  for (const line of text.slice(0, -'# EOF\n'.length).trimEnd().split('\n')) {
    const fail = (why: string) => new Error(`${why}: ${line}`);
    const [, keyword = '', name = '', rest = ''] = /^# (TYPE|UNIT|HELP) (\S+) (.+)$/.exec(line) ?? [];
    if (keyword === 'TYPE') {
      if (families.has(name)) throw fail('a family comes twice');
      if (!(rest in SUFFIXES)) throw fail('an unknown type');
      families.add(name);
      family = { name, type: rest };
    } else if (keyword !== '') {
      if (name !== family.name) throw fail('words on another family');
      if (keyword === 'UNIT' && !name.endsWith(`_${rest}`)) throw fail('a name without its unit');
      if (keyword === 'HELP' && !new RegExp(`^${TEXT}$`).test(rest)) throw fail('text that is not escaped');
    } else {
      const [, sample = '', pairs = '', value = ''] = SAMPLE.exec(line) ?? [];
      if (sample !== family.name + SUFFIXES[family.type] || sample === '') throw fail('a sample of no family');
      if (!NUMBER.test(value)) throw fail('no number');
      if (seen.has(`${sample}{${pairs}}`)) throw fail('a sample comes twice');
      seen.add(`${sample}{${pairs}}`);
      const labels = [...pairs.matchAll(new RegExp(`(${NAME})="(${TEXT})"`, 'g'))].map(
        ([, label = '', quoted = '']) => {
          return [label, quoted.replaceAll(/\\(["\\n])/g, (_, mark: string) => (mark === 'n' ? '\n' : mark))];
        },
      );
      samples.push({
        name: sample,
        labels: Object.fromEntries(labels) as Record<string, string>,
        value: Number(value),
      });
    }
  }
  return samples;
}
