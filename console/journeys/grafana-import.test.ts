// Import from Grafana in a real browser: the report comes first, then the dashboard.
import { expect, test } from 'vitest';
import { startWorld } from '../../tests/world/world.ts';
import { axeFindings } from './chromium.ts';
import { journey } from './journey.ts';

const source = {
  title: 'Cold store',
  panels: [
    { id: 1, type: 'stat', title: 'Door', gridPos: { x: 0, y: 0, w: 12, h: 8 } },
    {
      id: 2,
      type: 'text',
      title: 'Note',
      options: { mode: 'markdown', content: 'Call the **kitchen**' },
      gridPos: { x: 12, y: 0, w: 12, h: 8 },
    },
    { id: 3, type: 'news', title: '<b>News</b>', gridPos: { x: 0, y: 8, w: 24, h: 4 } },
  ],
};
const fileOf = (name: string, text: string) => ({
  name,
  mimeType: 'application/json',
  buffer: Buffer.from(text),
});

journey('import from Grafana', { start: startWorld }, (stage) => {
  test('a file that is no dashboard says so', async () => {
    const { page } = stage;
    await stage.visit('dashboards');
    await page.getByRole('button', { name: 'Import from Grafana' }).click();
    const dialog = page.getByRole('dialog', { name: 'Import from Grafana' });
    await dialog.getByLabel('Choose file').setInputFiles(fileOf('a.json', 'nothing'));
    await dialog.getByText('The file is not a JSON object.').waitFor();
    await dialog.getByRole('button', { name: 'Choose another file' }).click();
    await dialog.getByLabel('Choose file').waitFor({ state: 'attached' });
  });

  test('the report names what does not map, and the dashboard opens', async () => {
    const { page, world } = stage;
    const dialog = page.getByRole('dialog', { name: 'Import from Grafana' });
    const text = JSON.stringify(source);
    await dialog.getByLabel('Choose file').setInputFiles(fileOf('cold-store.json', text));
    await dialog.getByText('2 of 3 panels map.').waitFor();
    await dialog.getByText('<b>News</b>').waitFor();
    await dialog.getByText('Panels of type news are not supported').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Create dashboard' }).click();
    await page.getByRole('heading', { name: 'Cold store' }).waitFor();
    await page.getByText('kitchen').waitFor();
    const list = await world.must('GET', `/v3/dashboards?workspaceId=${world.workspaceId}`);
    expect(list.content).toMatchObject([{ name: 'Cold store' }]);
  });
});
