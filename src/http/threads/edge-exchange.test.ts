// Which requests an edge thread reads whole, and which it leaves to the main thread.
import { expect, test } from 'vitest';
import { EdgeMessage, wholeCaptureBytes, wholeQueryBytes } from './edge-exchange.ts';
import { edgeLimits } from './edge-messages.ts';

const json = { host: 'x', 'content-type': 'application/json', 'content-length': '2' };

function request(method: string, url: string, headers: Record<string, string> = json) {
  const sent = { method, url, headers: JSON.stringify(headers), address: '127.0.0.1' };
  return new EdgeMessage(sent, Buffer.from('{}'));
}

test.each([
  '/v3/devices/0a/query',
  '/v3/devices/0a/query?limit=1',
  '/v3/devices/0a/query/raw/kpi',
  '/v3/devices/0a/query/aggregated/hourly/time-series',
  '/v3/devices/query/latest',
  '/v3/devices/query/batch/time-series',
  '/v3/tags/0a/query/raw/accumulated-kpi?page=1',
  '/v3/places/query/values',
])('the query %s', (url) => {
  expect(wholeQueryBytes(request('POST', url))).toBe(2);
  expect(wholeCaptureBytes(request('POST', url))).toBeUndefined();
});

test.each([
  '/v3/devices/0a/query/time-series',
  '/v3/devices/0a/queries',
  '/v3/devices/0a/0b/query',
  '/v3/devices/0a?a=/query',
  '/v3/devices/0a/query-more',
  '/v3/devices/0a/export',
  '/v3/workspaces/0a/query',
  '/v3/devices',
])('not %s', (url) => {
  expect(wholeQueryBytes(request('POST', url))).toBeUndefined();
});

test('by POST and GET, of JSON of a length that is known and not too long', () => {
  const url = '/v3/devices/0a/query';
  const { 'content-length': _, ...endless } = json;
  expect(wholeQueryBytes(request('GET', url, { host: 'x' }))).toBe(0);
  expect(wholeQueryBytes(request('DELETE', url))).toBeUndefined();
  const refused: Record<string, string>[] = [
    { ...endless, 'transfer-encoding': 'chunked' },
    { ...json, 'content-type': 'text/plain' },
    { ...json, 'content-encoding': 'gzip' },
    { ...json, 'content-length': String(edgeLimits.bodyBytesMax + 1) },
    { ...json, expect: '100-continue' },
  ];
  for (const headers of refused)
    expect(wholeQueryBytes(request('POST', url, headers))).toBeUndefined();
});
