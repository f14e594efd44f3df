// Shown place: what the map shows, as its address has it.
import { placeOf, type View, worldOf, zoomMax } from '../../map/view.ts';

export function viewOf(at: string | undefined): View | undefined {
  const [latitude, longitude, zoom, ...more] = (at ?? '').split(',').map(Number);
  if (latitude === undefined || longitude === undefined || zoom === undefined) return undefined;
  const isPlace = Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180;
  if (!isPlace || !(zoom >= 0 && zoom <= zoomMax) || more.length > 0) return undefined;
  return { center: worldOf({ latitude, longitude }), zoom };
}

export function atOf({ center, zoom }: View): string {
  const { latitude, longitude } = placeOf(center);
  return [rounded(latitude, 1e5), rounded(longitude, 1e5), rounded(zoom, 100)].join(',');
}

const rounded = (value: number, parts: number): number => Math.round(value * parts) / parts;
