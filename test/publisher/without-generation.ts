import { generationOfFile } from '../../contract/files/file-generation.ts';

/** A file with the newest values, without the generation that changed it last. */
export function withoutGeneration(text: string): string {
  const generation = generationOfFile(text);
  return text.replaceAll(text.startsWith('{') ? `"generation":${generation}}` : `,${generation}\r\n`, '…');
}
