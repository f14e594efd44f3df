// Words of the grid of a dashboard: its handles, and what is said when a tile moves.
import { grouped } from '../../../words/formats.ts';
import { plural, wordSet } from '../../../words/word-set.ts';

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
