// Words of the tiles of dashboards and of the grid that they are arranged in.
import { grouped } from '../../../words/formats.ts';
import { plural, wordSet } from '../../../words/word-set.ts';

// Words of the grid of a dashboard: its handles, and what is said when a tile moves.

export const gridWords = wordSet(
  {
    tiles: 'Tiles',
    move: (title: string) => `Move ${title}`,
    settings: (title: string) => `Edit ${title}`,
    remove: (title: string) => `Remove ${title}`,
    removed: (title: string) => `${title} removed`,
    help: 'Press Space to pick up a tile, arrow keys to move it, Shift+arrow keys to resize it, Space to drop it, and Escape to cancel.',
    place: (column: number, row: number, width: number, height: number) =>
      `Column ${grouped(column)}, row ${grouped(row)}, ${grouped(width)} ${plural(width, 'column', 'columns')} wide, ${grouped(height)} ${plural(height, 'row', 'rows')} high`,
    news: {
      grabbed: (title: string, place: string) => `${title} picked up. ${place}`,
      moved: (title: string, place: string) => `${title}: ${place}`,
      dropped: (title: string, place: string) => `${title} dropped. ${place}`,
      canceled: (title: string, place: string) => `Move canceled. ${title} returned to ${place}`,
    },
  },
  {
    tiles: 'Kacheln',
    move: (title: string) => `${title} verschieben`,
    settings: (title: string) => `${title} bearbeiten`,
    remove: (title: string) => `${title} entfernen`,
    removed: (title: string) => `${title} entfernt`,
    help: 'Leertaste zum Aufnehmen, Pfeiltasten zum Verschieben, Umschalt+Pfeiltasten zum Ändern der Größe, Leertaste zum Ablegen, Escape zum Abbrechen.',
    place: (column: number, row: number, width: number, height: number) =>
      `Spalte ${grouped(column)}, Zeile ${grouped(row)}, ${grouped(width)} ${plural(width, 'Spalte', 'Spalten')} breit, ${grouped(height)} ${plural(height, 'Zeile', 'Zeilen')} hoch`,
    news: {
      grabbed: (title: string, place: string) => `${title} aufgenommen. ${place}`,
      moved: (title: string, place: string) => `${title}: ${place}`,
      dropped: (title: string, place: string) => `${title} abgelegt. ${place}`,
      canceled: (title: string, place: string) =>
        `Verschieben abgebrochen. ${title} zurück an: ${place}`,
    },
  },
);

export const tileWords = wordSet(
  {
    kinds: {
      value: 'Value',
      line: 'Line chart',
      bar: 'Bar chart',
      map: 'Map',
      table: 'Table',
      text: 'Text',
      state: 'Status',
    },
    untitledTable: 'Latest values',
    tones: { OK: 'Good', WARNING: 'Warning', BAD: 'Critical' },
    isTrue: 'True',
    isFalse: 'False',
    none: '–',
    noValues: 'No data in this time range',
    covered: (percent: number) => `covers ${grouped(percent)} % of the time`,
    usual: 'shaded: expected range',
    noUsual: 'no expected range yet: two weeks of data are needed',
    longUsual: 'the expected range is shown for at most 92 days',
    noSeries: 'No values selected',
    explore: (title: string) => `Explore ${title}`,
    chart: (title: string, unit: string) => `${title}${unit === '' ? '' : ` in ${unit}`}`,
    name: 'Name',
    value: 'Value',
    heard: 'Measured at',
    perBar: (duration: string) => `per ${duration}`,
    tooShort: (duration: string) => `${duration} is too short for this time range`,
    more: (count: number) => `+${grouped(count)} more`,
  },
  {
    kinds: {
      value: 'Wert',
      line: 'Liniendiagramm',
      bar: 'Balkendiagramm',
      map: 'Karte',
      table: 'Tabelle',
      text: 'Text',
      state: 'Status',
    },
    untitledTable: 'Neueste Werte',
    tones: { OK: 'Gut', WARNING: 'Warnung', BAD: 'Kritisch' },
    isTrue: 'Ja',
    isFalse: 'Nein',
    none: '–',
    noValues: 'Keine Daten in diesem Zeitraum',
    covered: (percent: number) => `deckt ${grouped(percent)} % der Zeit ab`,
    usual: 'schattiert: erwarteter Bereich',
    noUsual: 'noch kein erwarteter Bereich: Es braucht zwei Wochen Daten',
    longUsual: 'Der erwartete Bereich wird für höchstens 92 Tage gezeigt',
    noSeries: 'Keine Werte ausgewählt',
    explore: (title: string) => `${title} erkunden`,
    chart: (title: string, unit: string) => `${title}${unit === '' ? '' : ` in ${unit}`}`,
    name: 'Name',
    value: 'Wert',
    heard: 'Gemessen am',
    perBar: (duration: string) => `je ${duration}`,
    tooShort: (duration: string) => `${duration} ist zu kurz für diesen Zeitraum`,
    more: (count: number) => `+${grouped(count)} weitere`,
  },
);
