// Words of the grid of a dashboard: its handles, and what is said when a tile moves.
import { grouped } from '../../../words/formats.ts';
import { wordSet } from '../../../words/word-set.ts';

export const gridWords = wordSet(
  {
    tiles: 'Tiles',
    move: (title: string) => `Move ${title}`,
    settings: (title: string) => `Settings of ${title}`,
    remove: (title: string) => `Remove ${title}`,
    removed: (title: string) => `${title} removed`,
    help: 'Space takes the tile. The arrow keys move it, with Shift they change its size. Space puts it down, Escape puts it back.',
    place: (column: number, row: number, width: number, height: number) =>
      `Column ${grouped(column)}, row ${grouped(row)}, ${grouped(width)} wide, ${grouped(height)} high.`,
    news: {
      grabbed: (title: string, place: string) => `${title} taken. ${place}`,
      moved: (title: string, place: string) => `${title}: ${place}`,
      dropped: (title: string, place: string) => `${title} put down. ${place}`,
      canceled: (title: string, place: string) => `${title} put back. ${place}`,
    },
  },
  {
    tiles: 'Kacheln',
    move: (title: string) => `${title} verschieben`,
    settings: (title: string) => `Einstellungen von ${title}`,
    remove: (title: string) => `${title} entfernen`,
    removed: (title: string) => `${title} entfernt`,
    help: 'Die Leertaste nimmt die Kachel. Die Pfeiltasten verschieben sie, mit Umschalt ändern sie ihre Größe. Die Leertaste legt sie ab, Escape legt sie zurück.',
    place: (column: number, row: number, width: number, height: number) =>
      `Spalte ${grouped(column)}, Zeile ${grouped(row)}, ${grouped(width)} breit, ${grouped(height)} hoch.`,
    news: {
      grabbed: (title: string, place: string) => `${title} genommen. ${place}`,
      moved: (title: string, place: string) => `${title}: ${place}`,
      dropped: (title: string, place: string) => `${title} abgelegt. ${place}`,
      canceled: (title: string, place: string) => `${title} zurückgelegt. ${place}`,
    },
  },
);
