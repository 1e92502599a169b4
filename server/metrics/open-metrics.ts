/** The text format of OpenMetrics 1.0 (https://prometheus.io/docs/specs/om/open_metrics_spec/). */

export const OPEN_METRICS_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

export interface Sample {
  readonly value: number;
  readonly labels?: { readonly [name: string]: string };
}

/** A metric family. Its name ends with its unit, if it has one. */
export interface Family {
  readonly name: string;
  readonly type: 'gauge' | 'counter' | 'summary';
  readonly help: string;
  readonly samples: readonly Sample[];
}

/** The suffix of a sample's name after that of its family. */
const SUFFIXES = { gauge: '', counter: '_total', summary: '' } as const;

export function openMetricsText(families: readonly Family[]): string {
  return `${families.flatMap(linesOf).join('\n')}\n# EOF\n`;
}

function linesOf({ name, type, help, samples }: Family): readonly string[] {
  const unit = /_(seconds|bytes)$/.exec(name)?.[1];
  return [
    `# TYPE ${name} ${type}`,
    ...(unit === undefined ? [] : [`# UNIT ${name} ${unit}`]),
    `# HELP ${name} ${escaped(help)}`,
    ...samples.map(({ value, labels = {} }) => {
      const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
      return `${name}${SUFFIXES[type]}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`;
    }),
  ];
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
