/** Tiles: their paths, and which of them a tree has. */
import { expect, test } from 'vitest';
import {
  ndjsonPath,
  parseTilePath,
  partialTilesOf,
  type TileName,
  tilePath,
  tilesOfGrowth,
  widthOfTile,
} from '../../../contract/log/tiles.ts';

/** The first row and its parts are C2SP's own example. */
const PATHS = [
  ['tile/0/x001/x234/067', 0, 1_234_067, 256],
  ['tile/0/000', 0, 0, 256],
  ['tile/0/000.p/1', 0, 0, 1],
  ['tile/63/999.p/255', 63, 999, 255],
  ['tile/1/x001/000', 1, 1000, 256],
  ['tile/entries/x001/234.p/7', 'entries', 1234, 7],
] as const;

test.each(PATHS)('the path %s', (path, level, n, width) => {
  expect(tilePath(level, n, width)).toBe(path);
  expect(parseTilePath(path)).toEqual({ level, n, width });
});

test('the path of lines', () => {
  expect(ndjsonPath(1_234_067, 256)).toBe('ndjson/x001/x234/067.gz');
  expect(ndjsonPath(0, 12)).toBe('ndjson/000.p/12.gz');
  expect(parseTilePath('ndjson/x001/000.p/12.gz')).toEqual({ level: 'ndjson', n: 1000, width: 12 });
});

const NO_PATHS = [
  ...['', 'tile/0', 'tile/0/0', 'tile/0/00', 'tile/0/0000', 'tile/0/000/001', 'tile/0/x000/001', 'tile/00/000'],
  ...['tile/64/000', 'tile/-1/000', 'tile/0/000.p/0', 'tile/0/000.p/01', 'tile/0/000.p/256', 'tile/0/000.p/1000'],
  ...['/tile/0/000', 'tile/0/000/', 'tile/0/000\n', 'tile/data/000', 'tile/0/x001', 'tile/0/000.gz', 'ndjson/000'],
  ...['tile/0/../000', 'tile/0/x999/x999/x999/x999/x999/x999/999', 'tile/0/٠٠٠'],
];

test.each(NO_PATHS)('%j is no path of a tile', (path) => {
  expect(parseTilePath(path)).toBeNull();
});

test("the tiles of 70,000 entries are those of C2SP's example", () => {
  const full = (level: number) =>
    [...tilesOfGrowth(0, 70_000)].filter((tile) => tile.level === level && tile.width === 256);
  expect([full(0).length, full(1).length, full(2).length]).toEqual([273, 1, 0]);
  expect(partialTilesOf(70_000)).toEqual([
    { level: 0, n: 273, width: 112 },
    { level: 1, n: 1, width: 17 },
    { level: 2, n: 0, width: 1 },
  ]);
  expect([...tilesOfGrowth(0, 256)]).toEqual([
    { level: 0, n: 0, width: 256 },
    { level: 1, n: 0, width: 1 },
  ]);
});

test('a tree that grows needs exactly the tiles that are not the same as before', () => {
  const namesOf = (size: number) =>
    new Set([...tilesOfGrowth(0, size)].map((tile: TileName) => tilePath(tile.level, tile.n, tile.width)));
  for (const [oldSize, newSize] of [
    [0, 0],
    [0, 1],
    [255, 256],
    [256, 257],
    [300, 300],
    [511, 513],
    [65_535, 65_537],
  ] as const) {
    const before = namesOf(oldSize);
    const added = [...namesOf(newSize)].filter((name) => !before.has(name));
    const grown = [...tilesOfGrowth(oldSize, newSize)].map(({ level, n, width }) => tilePath(level, n, width));
    expect([oldSize, newSize, grown]).toEqual([oldSize, newSize, added]);
  }
});

test('a tile behind the edge has no width', () => {
  expect([widthOfTile(0, 0, 300), widthOfTile(0, 1, 300), widthOfTile(0, 2, 300), widthOfTile(1, 0, 300)]).toEqual([
    256, 44, 0, 1,
  ]);
});
