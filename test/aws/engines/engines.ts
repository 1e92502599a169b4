/** Every test engine. A new one is a file beside this one and a row here. */
import { dynoxide } from './dynoxide.ts';
import type { Engine } from './engine.ts';
import { minio } from './minio.ts';
import { moto } from './moto.ts';
import { radosgw } from './radosgw.ts';
import { versitygw } from './versitygw.ts';

export const ENGINES: readonly Engine[] = [dynoxide, minio, moto, radosgw, versitygw];
