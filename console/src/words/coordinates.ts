// Coordinates: a position in degrees with its senses, to about a meter.
import { localeOf } from './formats.ts';
import type { Language } from './word-set.ts';

const senses: Readonly<Record<Language, readonly [string, string, string, string]>> = {
  en: ['N', 'S', 'E', 'W'],
  de: ['N', 'S', 'O', 'W'],
};
const digits = { minimumFractionDigits: 0, maximumFractionDigits: 5 };

/** 47.2305 -> `47.2305° N`. */
export function latitudeWords(latitude: number, language: Language): string {
  const [north, south] = senses[language];
  return `${degreesOf(latitude, language)} ${latitude < 0 ? south : north}`;
}

/** -8.82 -> `8.82° W`. */
export function longitudeWords(longitude: number, language: Language): string {
  const [, , east, west] = senses[language];
  return `${degreesOf(longitude, language)} ${longitude < 0 ? west : east}`;
}

/** 47.2305, -8.82 -> `47.2305° N 8.82° W`, without a comma, which German numbers have. */
export function coordinates(latitude: number, longitude: number, language: Language): string {
  return `${latitudeWords(latitude, language)} ${longitudeWords(longitude, language)}`;
}

function degreesOf(degrees: number, language: Language): string {
  const format = new Intl.NumberFormat(localeOf(language), digits);
  return `${format.format(Math.abs(degrees))}°`;
}
