// Chart pictures: the charts of a dashboard as PNG files for mails.
import { type DashboardDocument, isDrawn } from './document.ts';
import { DocumentFonts } from './fonts.ts';
import { pictureOf } from './picture.ts';
import { shapesOf } from './tile-shapes.ts';

export const chartPicturesMax = 12;

/** How wide and high a mail shows them; dense screens have twice as many pixels. */
export const shownPicture = { width: 640, height: 208 } as const;
/** Letters of charts have the size of letters on a page, which is small on a screen. */
const magnified = 1.6;
const pixelsPerLength = 2;

/** Of the first charts, in the order of the tiles. `folder` has further fonts. */
export function chartPictures(
  { tiles, zone }: DashboardDocument,
  folder: string | undefined,
): readonly Uint8Array[] {
  const fonts = new DocumentFonts(folder);
  const [width, height] = [shownPicture.width / magnified, shownPicture.height / magnified];
  const size = { width, height, scale: magnified * pixelsPerLength };
  return tiles
    .filter((tile) => isDrawn(tile))
    .slice(0, chartPicturesMax)
    .map((tile) => pictureOf(shapesOf(tile, { x: 0, y: 0, width, height }, zone), size, fonts));
}
