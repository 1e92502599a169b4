/** Commands in documents with the output that they print: a test types them and compares. */

export interface Typed {
  readonly command: string;
  readonly shown: readonly string[];
  readonly code: number;
}

/** The commands of all `console` blocks, in their order. */
export function transcriptsOf(document: string): readonly Typed[] {
  return [...document.matchAll(/```console\n([\s\S]*?)```/g)].flatMap(([, block = '']) => {
    return block
      .split(/^\$ /m)
      .slice(1)
      .map((entry): Typed => {
        // A here-document belongs to its command.
        const [command = ''] = /^.*<<'(\w+)'\n[\s\S]*?^\1\n|^.*\n/m.exec(entry) ?? [];
        const lines = entry
          .slice(command.length)
          .split('\n')
          .filter((line) => line !== '');
        const [, code] = /^\(exit code (\d)\)$/.exec(lines.at(-1) ?? '') ?? [];
        return {
          command: command.trimEnd(),
          shown: code === undefined ? lines : lines.slice(0, -1),
          code: Number(code ?? 0),
        };
      });
  });
}

/** An ellipsis stands for what differs from run to run. */
export function patternOf(line: string): RegExp {
  const parts = line.split('…').map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`);
}
