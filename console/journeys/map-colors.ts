// Map colors: a picture of one color for tiles of tests, and the color that a map shows.
import { Buffer } from 'node:buffer';
import type { Page } from 'playwright-core';

export const magenta = [255, 0, 255];

/** A PNG of one pixel. */
export const magentaPixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z/AfAAQAAf8iCjrwAAAAAElFTkSuQmCC',
  'base64',
);

/** Red, green and blue of the map, at this distance from its upper left corner. */
export async function colorAt(page: Page, offset: number): Promise<readonly number[]> {
  const box = await page.getByRole('application').boundingBox();
  if (box === null) throw new Error('the map is not shown');
  const clip = { x: box.x + offset, y: box.y + offset, width: 1, height: 1 };
  const png = (await page.screenshot({ clip })).toString('base64');
  return page.evaluate(async (encoded) => {
    const bytes = Uint8Array.from(atob(encoded), (letter) => letter.codePointAt(0) ?? 0);
    const picture = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const context = new OffscreenCanvas(1, 1).getContext('2d');
    context?.drawImage(picture, 0, 0);
    return [...(context?.getImageData(0, 0, 1, 1).data ?? [])].slice(0, 3);
  }, png);
}
