/** Python's file server: a web server that knows nothing of Tidemark. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** On a port of this machine, on the folder. */
export async function startFileServer(folder: string): Promise<{ readonly url: string; stop(): void }> {
  const words = ['-u', '-m', 'http.server', '0', '--bind', '127.0.0.1', '--directory', folder];
  const child = spawn('python3', words, { stdio: ['ignore', 'pipe', 'ignore'] });
  for await (const line of createInterface({ input: child.stdout })) {
    const port = /port (\d+)/.exec(line)?.[1];
    if (port !== undefined) return { url: `http://127.0.0.1:${port}`, stop: () => void child.kill() };
  }
  throw new Error('python3 -m http.server ended before it served');
}
