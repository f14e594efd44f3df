// Device types in a real browser: a decoder is found, edited, tried, replayed on real uplinks and saved.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startWorld, type TestDevice, type World } from '../../tests/world/world.ts';
import { axeFindings } from './chromium.ts';
import { journey } from './journey.ts';

const decoder = `// Two bytes: temperature, signed, 0.1 degrees Celsius.
function consume(event) {
  const bits = Bits.hexToBits(event.data.payloadHex);
  const temperature = Bits.bitsToSigned(bits.slice(0, 16)) / 10;
  emit('sample', { data: { temperature }, topic: 'default' });
}
`;
const schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties: { temperature: { type: 'number', unit: '°C', title: 'Temperature' } },
  required: ['temperature'],
};

let device: TestDevice;

async function prepare(world: World): Promise<void> {
  device = await world.device({ name: 'Room', script: decoder, schemas: { default: schema } });
  for (const payloadHex of ['00e6', '00f0', 'ffce'])
    await world.capture(device, { port: 2, payloadHex });
}

journey('device types', { start: startWorld, prepare }, (stage) => {
  const typePath = (tab: string) => `types/${device.deviceTypeId}/${tab}`;

  test('the list shows what uses a type and opens it', async () => {
    const { page } = stage;
    await page.getByRole('link', { name: 'Device types' }).click();
    await page.getByText('1 device', { exact: true }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByLabel('Search by name').fill('nothing like it');
    await page.getByText('No matching device types').waitFor();
    await page.getByLabel('Search by name').fill('roo');
    await page.getByRole('link', { name: 'Room' }).click();
    await page.waitForURL(/\/decoder$/);
  });

  test('a decoder is run on the last real uplink, and its error is marked at its line', async () => {
    const { page } = stage;
    await page.getByRole('button', { name: 'Last uplink' }).click();
    await page.getByText('JSON event').waitFor();
    const editor = page.getByRole('textbox', { name: 'Decoder' });
    await editor.click();
    await page.keyboard.press('Control+Enter');
    await page.getByText('"temperature": -5').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    const place = async () => (await page.locator('.cm-editor').first().boundingBox())?.y;
    const before = await place();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('missing();');
    // Review console M12: the first edit does not move the editor.
    await page.getByText('Unsaved changes').waitFor();
    expect(await place()).toBe(before);
    await page.keyboard.press('Control+Enter');
    await page
      .getByText(/missing is not defined/)
      .first()
      .waitFor();
    await expect.poll(() => page.locator('.cm-lintRange-error').innerText()).toBe('missing();');
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await expect.poll(() => page.getByText('Unsaved changes').count()).toBe(0);
  });

  test('an example turns red when the decoder changes, and green when it is accepted', async () => {
    const { page } = stage;
    await page.getByLabel(/^Payload \(/).fill('00 E6');
    await page.getByText('hex, 2 bytes').waitFor();
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('"temperature": 23').waitFor();
    await page.getByLabel('Test case name').fill('warm');
    await page.getByRole('button', { name: 'Save as test case' }).click();
    await page.getByText('Test case warm saved').waitFor();
    await replaceInCode('/ 10;', '/ 100;');
    await page.keyboard.press('Control+Enter');
    await page.getByText('Failed').waitFor();
    await page.getByText('changed since the last run').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Accept results' }).click();
    await page.getByText('Passed').waitFor();
  });

  /** Types over the first place of `text` in the editor. */
  async function replaceInCode(text: string, by: string): Promise<void> {
    const { page } = stage;
    await page.getByRole('textbox', { name: 'Decoder' }).click();
    await page.keyboard.press('Control+f');
    await page.getByRole('textbox', { name: 'Find' }).waitFor();
    await page.keyboard.type(text);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    await page.keyboard.type(by);
  }

  test('edits stay in the browser, are replayed on stored uplinks, and are saved', async () => {
    const { page } = stage;
    await page.getByRole('link', { name: 'Home', exact: true }).click();
    await page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Keep editing' }).click();
    await page.getByRole('link', { name: 'Replay on recent uplinks' }).click();
    await page.getByText('0 match, 3 differ').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('link', { name: 'Decoder' }).click();
    await page.getByRole('textbox', { name: 'Decoder' }).click();
    await page.keyboard.press('Control+s');
    await page.getByText(/1 device in this workspace now uses it/).waitFor();
    const saved = await stage.world.must('GET', `/v3/device-types/${device.deviceTypeId}`);
    expect(saved['uplinkScript'].code).toBe(decoder.replace('/ 10;', '/ 100;'));
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Previous code restored').waitFor();
    const undone = await stage.world.must('GET', `/v3/device-types/${device.deviceTypeId}`);
    expect(undone['uplinkScript'].code).toBe(decoder);
  });

  test('a change that met another one is not lost', async () => {
    const { page } = stage;
    await replaceInCode('/ 10;', '/ 1;');
    await stage.world.must('PUT', `/v3/device-types/${device.deviceTypeId}`, {
      description: 'Rooms',
    });
    await page.keyboard.press('Control+s');
    await page.getByText('Someone else changed this while you were editing').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    stage.takeComplaints(); // The browser itself notes the 409.
    await stage.save('/v3/device-types/', () =>
      page.getByRole('button', { name: 'Overwrite' }).click(),
    );
    const saved = await stage.world.must('GET', `/v3/device-types/${device.deviceTypeId}`);
    expect(saved['uplinkScript'].code).toContain('/ 1;');
    expect(saved['description']).toBe('Rooms');
  });

  test('keys of the schema get their units', async () => {
    const { page } = stage;
    await stage.visit(typePath('schema'));
    await page.getByRole('button', { name: 'temperature', exact: true }).click();
    await page.getByLabel('Unit').fill('K');
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save' }).last().click();
    await page.getByText('temperature saved').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    const saved = await stage.world.must('GET', `/v3/device-types/${device.deviceTypeId}`);
    expect(JSON.parse(saved['schemas'].default)).toEqual({
      ...schema,
      properties: { temperature: { ...schema.properties.temperature, unit: 'K' } },
    });
  });

  test('a type in use is not deleted, and an unused one is', async () => {
    const { page } = stage;
    await stage.visit(typePath('use'));
    await page.getByText('1 device', { exact: true }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Duplicate' }).click();
    await page.getByRole('heading', { name: 'Room (copy)' }).waitFor();
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByText('No data flows').waitFor();
    await page.getByRole('button', { name: 'Delete device type' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete device type' }).click();
    await page.getByText('Room (copy) deleted').waitFor();
    await page.waitForURL(/\/types$/);
  });

  test('a new type begins with a decoder that runs', async () => {
    const { page } = stage;
    await page.getByRole('button', { name: 'Create device type' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Meter');
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('heading', { name: 'Meter' }).waitFor();
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('"temperature": 23').waitFor();
  });

  test('contract 38: the encoding is chosen, tried, and stored bytes are decoded again in another one', async () => {
    const { page, world } = stage;
    const code =
      'function consume(e) { emit("sample", { data: { got: e.data.text ?? e.data.payloadHex } }); }';
    const meter = await world.device({ name: 'Meter', script: code });
    const capture = `${world.base}/v3/capture?secret=${meter.secret}&deviceId=${meter.deviceId}`;
    await fetch(capture, { method: 'POST', body: new Uint8Array([0x41, 0x42, 0xff]) });
    await stage.visit(`devices/${meter.id}/uplinks`);
    await page.getByText('41 42 ff').first().click();
    await page.getByRole('cell', { name: 'AB.' }).waitFor();
    await page.getByLabel('Read as').selectOption('Text');
    await page.getByRole('button', { name: 'Decode again' }).click();
    await page.getByText('"got": "AB\ufffd"').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await stage.visit(`types/${meter.deviceTypeId}/use`);
    await page.getByLabel('Payload format').selectOption('Text');
    await page.getByText('Encoding saved').waitFor();
    const saved = await world.must('GET', `/v3/device-types/${meter.deviceTypeId}`);
    expect(saved['meta'].encoding).toBe('TEXT');
    expect(await axeFindings(page)).toEqual([]);
    // What is typed stays when the last uplink arrives after it.
    const arrives = Promise.withResolvers<void>();
    await page.route('**/v3/devices/*/uplinks**', async (route) => {
      await arrives.promise;
      await route.continue();
    });
    await page.getByRole('link', { name: 'Decoder' }).click();
    await page.getByLabel(/^Payload \(/).focus();
    const uplink = page.waitForResponse('**/v3/devices/*/uplinks**');
    arrives.resolve();
    await uplink;
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('on');
    await page.getByText('text, 2 bytes').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByText('What the script gets as event.data').click();
    await page.getByText('"payloadHex": "6f6e"').waitFor();
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('"got": "on"').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await world.must('PUT', `/v3/device-types/${meter.deviceTypeId}`, {
      meta: { encoding: 'CBOR' },
    });
    await stage.visit(`types/${meter.deviceTypeId}/decoder`);
    await page.getByLabel(/^Payload \(/).fill('a1647465787462686d');
    await page.getByText('What the script gets as event.data').click();
    await page.getByText('"text": "hm"').waitFor();
  });

  test('a library is imported from its folder', async () => {
    const { page } = stage;
    const folder = join(stage.world.directory, 'a-library');
    for (const name of ['good', 'bad']) mkdirSync(join(folder, name), { recursive: true });
    const meta = {
      name: 'Soil probe',
      version: '1.0.0',
      manufacturer: 'A maker',
      author: 'An author',
      encoding: 'JSON',
      connectivity: 'HTTP',
      outputTopics: ['default'],
    };
    writeFileSync(join(folder, 'good', 'meta.json'), JSON.stringify(meta));
    writeFileSync(join(folder, 'good', 'uplink.js'), decoder);
    writeFileSync(join(folder, 'bad', 'meta.json'), '{');
    await stage.visit('types');
    await page.getByRole('button', { name: 'Import library' }).click();
    await page.getByLabel('Library folder').setInputFiles(folder);
    await page.getByText('3 files, 2 types').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByText('1 created, 0 updated, 0 unchanged').waitFor();
    await page.getByText('bad/meta.json').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('link', { name: 'Soil probe' }).waitFor();
  });
});
