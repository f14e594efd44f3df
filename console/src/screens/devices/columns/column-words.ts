// Words of the column chooser.
import { grouped } from '../../../words/formats.ts';
import { wordSet } from '../../../words/word-set.ts';

export const columnWords = wordSet(
  {
    columns: 'Columns',
    title: 'Columns',
    note: 'Drag a column, or move it with the arrow keys. The device itself is always first.',
    moved: (name: string, place: number, of: number) =>
      `${name} is column ${grouped(place)} of ${grouped(of)}`,
    move: (name: string) => `Move ${name}`,
    width: (name: string) => `Width of ${name}`,
    automatic: 'auto',
    remove: (name: string) => `Hide ${name}`,
    add: 'Add a column',
    choose: 'Choose…',
    standard: 'Usual',
    fields: 'Custom fields',
    values: 'Values',
    none: 'No column but the device',
    reset: 'Usual columns',
    done: 'Done',
    resize: (name: string) => `Drag to change the width of ${name}`,
  },
  {
    columns: 'Spalten',
    title: 'Spalten',
    note: 'Ziehen Sie eine Spalte, oder bewegen Sie sie mit den Pfeiltasten. Das Gerät steht immer vorn.',
    moved: (name: string, place: number, of: number) =>
      `${name} ist Spalte ${grouped(place)} von ${grouped(of)}`,
    move: (name: string) => `${name} bewegen`,
    width: (name: string) => `Breite von ${name}`,
    automatic: 'auto',
    remove: (name: string) => `${name} ausblenden`,
    add: 'Spalte hinzufügen',
    choose: 'Auswählen…',
    standard: 'Übliche',
    fields: 'Eigene Felder',
    values: 'Werte',
    none: 'Keine Spalte außer dem Gerät',
    reset: 'Übliche Spalten',
    done: 'Fertig',
    resize: (name: string) => `Ziehen, um die Breite von ${name} zu ändern`,
  },
);
