// Coordinates: a position in degrees with its senses, to about a meter.
import { localeOf } from './formats.ts';
import type { Language } from './word-set.ts';

const senses: Readonly<Record<Language, readonly [string, string, string, string]>> = {
  en: ['N', 'S', 'E', 'W'],
  de: ['N', 'S', 'O', 'W'],
};
const digits = { minimumFractionDigits: 0, maximumFractionDigits: 5 };

/** 47.2305, -8.82 -> `47.2305° N 8.82° W`, without a comma, which German numbers have. */
export function coordinates(latitude: number, longitude: number, language: Language): string {
  const format = new Intl.NumberFormat(localeOf(language), digits);
  const [north, south, east, west] = senses[language];
  const size = (degrees: number) => `${format.format(Math.abs(degrees))}°`;
  return `${size(latitude)} ${latitude < 0 ? south : north} ${size(longitude)} ${longitude < 0 ? west : east}`;
}
