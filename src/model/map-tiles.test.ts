// Map tiles: which templates are taken, and the one host that they name.
import { expect, test } from 'vitest';
import { isTileTemplate, tileAddress, tileOrigin } from './map-tiles.ts';

test.each([
  ['https://tiles.example.com/{z}/{x}/{y}.png', true],
  ['http://127.0.0.1:8081/{z}/{x}/{y}.png?key=a&at={z}', true],
  ['https://tiles.example.com/tile?z={z}&x={x}&y={y}', true],
  ['https://tiles.example.com/{z}/{x}.png', false],
  ['https://{s}.tiles.example.com/{z}/{x}/{y}.png', false],
  ['https://tiles.example.com/{z}/{x}/{y}{r}.png', false],
  ['https://tiles{z}.example.com/{z}/{x}/{y}.png', false],
  ['https://user:word@tiles.example.com/{z}/{x}/{y}.png', false],
  ['/tiles/{z}/{x}/{y}.png', false],
  ['javascript:{z}{x}{y}', false],
  ['', false],
])('%s: %s', (url, isTaken) => {
  expect(isTileTemplate(url)).toBe(isTaken);
});

test('a tile has its address, and all tiles one host', () => {
  const url = 'https://tiles.example.com:8443/{z}/{x}/{y}.png?z={z}';
  const address = 'https://tiles.example.com:8443/3/4/2.png?z=3';
  expect(tileAddress(url, { z: 3, x: 4, y: 2 })).toBe(address);
  expect(tileOrigin(url)).toBe('https://tiles.example.com:8443');
});
