// Hostile strings in places, refused ids, titles, files of Grafana, PDF and CSV: they stay text, and run nowhere.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readPdf } from '../../src/dashboards/documents/testing-pdf.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let device: TestDevice;
beforeAll(async () => {
  world = await startWorld();
  device = await world.device({ name: 'Room' });
  await world.capture(device, { temperature: 21 });
});
afterAll(() => world.close());

/** Each runs, loads or breaks out of something, if it is not taken as text. */
const hostile = [
  '=HYPERLINK("http://hostile.invalid","x")',
  "+1+cmd|' /C calc'!A0",
  "-2+3+cmd|' /C calc'!A0",
  "@SUM(1+1)*cmd|' /C calc'!A0",
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '{{constructor.constructor("return process")()}}',
  '${7*7}',
  "'; drop table places; --",
  '(Tj) ET Q /JS (app.alert(1)) >> endobj',
  '\u202egnp.exe',
  '__proto__',
] as const;

const formula = /^[=+\-@]/;

async function textAt(path: string): Promise<string> {
  const answer = await fetch(`${world.base}${path}`, {
    headers: { 'x-api-key': world.apiKey },
  });
  expect(answer.status).toBe(200);
  return answer.text();
}

/** Fields of CSV, also quoted ones. */
const fieldsOf = (csv: string): string[] =>
  [...csv.matchAll(/"((?:[^"]|"")*)"|([^,"\r\n]+)/g)].map(([, quoted, plain]) =>
    (quoted ?? plain ?? '').replaceAll('""', '"'),
  );

describe.each(hostile)('%s', (text) => {
  test('a place has it as its name, and its file runs no formula and imports unchanged', async () => {
    const { workspaceId } = world;
    const place = await world.must('POST', '/v3/places', { workspaceId, name: text });
    expect(place).toMatchObject({ name: text, path: [{ name: text }] });
    const csv = await textAt(`/v3/places/export?workspaceId=${workspaceId}`);
    expect(fieldsOf(csv).filter((field) => formula.test(field))).toEqual([]);
    const answer = await fetch(`${world.base}/v3/places/import?workspaceId=${workspaceId}`, {
      method: 'POST',
      headers: { 'x-api-key': world.apiKey, 'content-type': 'text/csv' },
      body: csv,
    });
    expect(await answer.json()).toMatchObject({ created: 0, updated: 0, problems: [] });
    await world.must('DELETE', `/v3/places/${place.id}`);
  });

  test('a refused device id is shown as it was sent', async () => {
    const query = new URLSearchParams({ secret: device.secret, deviceId: text });
    const sent = await fetch(`${world.base}/v3/capture?${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"temperature": 1}',
    });
    expect(sent.status).toBe(404);
    const path = `/v3/workspaces/${world.workspaceId}/refusals?size=1000`;
    await expect
      .poll(
        async () =>
          (await world.must('GET', path)).content.map(
            ({ deviceId }: { deviceId: string }) => deviceId,
          ),
        { timeout: 60_000 },
      )
      .toContain(text);
  });

  test('a dashboard of Grafana has it as title, name of a variable, unit and query', async () => {
    const source = {
      title: text,
      templating: { list: [{ type: 'custom', name: text, label: text, query: text }] },
      panels: [
        {
          id: 1,
          type: 'stat',
          title: text,
          targets: [{ refId: text, expr: text, datasource: text }],
          fieldConfig: { defaults: { unit: text } },
        },
        { id: 2, type: text, title: text },
        { id: 3, libraryPanel: { uid: text, name: text } },
      ],
    };
    const body = { workspaceId: world.workspaceId, format: 'GRAFANA', source };
    const { status, body: answer } = await world.call('POST', '/v3/dashboards/import', body);
    expect(status).toBe(201);
    expect(answer.mapped).toMatchObject([{ panelId: 1 }]);
    expect(answer.notMapped.map(({ panelId }: { panelId: number }) => panelId)).toEqual(
      expect.arrayContaining([1, 2, 3]),
    );
    expect(answer.dashboard.name).toBe(text);
  });

  test('a title, a label and a note are text in CSV and PDF', async () => {
    const { workspaceId } = world;
    const tile = { x: 0, y: 0, width: 12, height: 4, id: 'a', kind: 'line', title: text };
    const series = [{ deviceId: device.id, topic: 'default', dataKey: 'temperature', label: text }];
    const { id } = await world.must('POST', '/v3/dashboards', {
      workspaceId,
      name: text,
      configuration: {
        schema: 'heliograph-dashboard',
        version: 2,
        tiles: [
          { ...tile, series },
          { ...tile, y: 4, id: 'b', kind: 'text', text },
        ],
      },
    });
    const at = new Date().toISOString();
    const note = await world.must('POST', '/v3/annotations', { workspaceId, at, text });
    const csv = await textAt(`/v3/dashboards/${id}/render?format=csv&tile=a&last=PT1H`);
    expect(fieldsOf(csv).filter((field) => formula.test(field) && !/^-?\d/.test(field))).toEqual(
      [],
    );
    const answer = await fetch(`${world.base}/v3/dashboards/${id}/render?format=pdf&last=PT1H`, {
      headers: { 'x-api-key': world.apiKey },
    });
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="[\w.-]+"$/);
    const bytes = await answer.bytes();
    const { title, pages } = await readPdf(bytes);
    expect(title).toBe(text);
    // No actions, scripts or addresses; what is drawn is glyphs.
    const raw = Buffer.from(bytes).toString('latin1');
    for (const name of ['/JavaScript', '/OpenAction', '/Launch', '/URI'])
      expect(raw).not.toContain(name);
    expect(pages.length).toBeGreaterThan(0);
    await world.must('DELETE', `/v3/annotations/${note.id}`);
  });
});
