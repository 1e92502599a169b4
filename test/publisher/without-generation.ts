import { generationOfFile } from '../../contract/files/file-generation.ts';

/** A file with the newest values, without the generation that changed it last. */
export function withoutGeneration(text: string): string {
  const generation = generationOfFile(text);
  // The index of parts has digests of files with generations.
  const plain = text.replace(/"digest":"[0-9a-f]{64}","generation":\d+/g, '…');
  return plain.replaceAll(text.startsWith('{') ? `"generation":${generation}}` : `,${generation}\r\n`, '…');
}
