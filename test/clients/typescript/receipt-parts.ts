/** The parts of a receipt (C2SP tlog-proof@v1), read without the code that is tested. */
export function receiptParts(text: string) {
  const split = text.indexOf('\n\n');
  const [, extra = '', index = '', ...hashes] = text.slice(0, split).split('\n');
  return {
    extra: Buffer.from(extra.replace('extra ', ''), 'base64'),
    index: Number(index.replace('index ', '')),
    proof: hashes.map((hash) => new Uint8Array(Buffer.from(hash, 'base64'))),
    checkpoint: text.slice(split + 2),
  };
}
