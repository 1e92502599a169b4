/** ZIP archives for tests (APPNOTE.TXT 6.3.10). Any field can be wrong. */
import { crc32, deflateRawSync } from 'node:zlib';

export interface ArchivedFile {
  readonly name: string;
  readonly content: string;
  readonly method?: number;
  readonly flags?: number;
  /** Instead of the true ones. */
  readonly crc?: number;
  readonly fileBytes?: number;
  readonly packedBytes?: number;
}

export function zipArchive(files: readonly ArchivedFile[], comment = ''): Buffer {
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let offset = 0;
  for (const { name, content, method = 8, flags = 0, ...claims } of files) {
    const packed = method === 8 ? deflateRawSync(content) : Buffer.from(content);
    const { crc = crc32(content), fileBytes = Buffer.byteLength(content), packedBytes = packed.length } = claims;
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(flags, 2);
    common.writeUInt16LE(method, 4);
    common.writeUInt32LE(crc, 10);
    common.writeUInt32LE(packedBytes, 14);
    common.writeUInt32LE(fileBytes, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    centrals.push(Buffer.concat([Buffer.from('PK\x01\x02'), Buffer.of(20, 0), common, rest, Buffer.from(name)]));
    locals.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(centrals);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(central.length, 8);
  end.writeUInt32LE(offset, 12);
  end.writeUInt16LE(comment.length, 16);
  return Buffer.concat([...locals, central, Buffer.from('PK\x05\x06'), end, Buffer.from(comment)]);
}
