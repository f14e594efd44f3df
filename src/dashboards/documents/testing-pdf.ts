// Reading of PDF files in tests: texts, lines, and metadata, by pdf.js.
import { getDocument, OPS } from 'pdfjs-dist/legacy/build/pdf.mjs';

interface ReadPage {
  readonly text: string;
  /** Polylines of straight parts, in points of the page from its top left corner. */
  readonly polylines: readonly (readonly (readonly [x: number, y: number])[])[];
  readonly pictures: number;
}

/** Throws for what is no PDF. */
export async function readPdf(
  bytes: Uint8Array,
): Promise<{ readonly title: string; readonly pages: readonly ReadPage[] }> {
  const task = getDocument({ data: new Uint8Array(bytes), useSystemFonts: false, verbosity: 0 });
  const document = await task.promise;
  const { info } = (await document.getMetadata()) as unknown as { info: { Title?: string } };
  const pages: ReadPage[] = [];
  for (let number = 1; number <= document.numPages; number++) {
    const page = await document.getPage(number);
    const { items } = await page.getTextContent();
    const { fnArray, argsArray } = await page.getOperatorList();
    const polylines = fnArray.flatMap((name, at) =>
      name === OPS.constructPath ? polylinesOf(argsArray[at] as PathArgs) : [],
    );
    const images = new Set<number>([OPS.paintImageXObject, OPS.paintInlineImageXObject]);
    pages.push({
      text: items.map((item) => ('str' in item ? item.str : '')).join(' '),
      polylines,
      pictures: fnArray.filter((name) => images.has(name)).length,
    });
  }
  await task.destroy();
  return { title: info.Title ?? '', pages };
}

type PathArgs = readonly [operator: number, paths: readonly (Float32Array | null)[], ...unknown[]];

const [moveTo, lineTo, curveTo, quadraticCurveTo, closePath] = [0, 1, 2, 3, 4];

function polylinesOf([, [path]]: PathArgs): [number, number][][] {
  const lines: [number, number][][] = [];
  if (path === null || path === undefined) return lines;
  for (let at = 0; at < path.length; ) {
    const operator = path[at++];
    if (operator === moveTo) lines.push([[path[at++] ?? 0, path[at++] ?? 0]]);
    else if (operator === lineTo) lines.at(-1)?.push([path[at++] ?? 0, path[at++] ?? 0]);
    else if (operator === curveTo) at += 6;
    else if (operator === quadraticCurveTo) at += 4;
    else if (operator !== closePath) throw new Error(`Unknown operator ${operator} of a path`);
  }
  return lines;
}
