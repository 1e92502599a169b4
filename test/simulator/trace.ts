/** The events of a world for people: time, actor, operation, key, outcome. Kept only if it will be printed. */

export class Trace {
  readonly isKept: boolean;
  readonly lines: string[] = [];

  constructor(isKept: boolean) {
    this.isKept = isKept;
  }

  note(elapsedMs: number, actor: string, operation: string, key: string, outcome: string): void {
    if (!this.isKept) return;
    this.lines.push(
      `${timeOf(elapsedMs)}  ${actor.padEnd(13)} ${operation.padEnd(16)} ${key}${outcome === '' ? '' : `  → ${outcome}`}`,
    );
  }
}

/** Hours, minutes, seconds and milliseconds, with a fraction to distinguish events of one millisecond. */
function timeOf(elapsedMs: number): string {
  const seconds = Math.floor(elapsedMs / 1000);
  const pad = (value: number) => String(value).padStart(2, '0');
  const clock = `${pad(Math.floor(seconds / 3600))}:${pad(Math.floor(seconds / 60) % 60)}:${pad(seconds % 60)}`;
  return `${clock}.${(elapsedMs % 1000).toFixed(2).padStart(6, '0')}`;
}
