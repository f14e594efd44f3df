// Words of the column chooser.
import { grouped } from '../../../words/formats.ts';
import { wordSet } from '../../../words/word-set.ts';

export const columnWords = wordSet(
  {
    columns: 'Columns',
    title: 'Columns',
    note: 'Drag columns or move them with the arrow keys. The device column always comes first.',
    moved: (name: string, place: number, of: number) =>
      `${name} moved to position ${grouped(place)} of ${grouped(of)}`,
    move: (name: string) => `Move ${name}`,
    width: (name: string) => `Width of ${name}`,
    automatic: 'Auto',
    remove: (name: string) => `Hide ${name}`,
    add: 'Add column',
    choose: 'Select…',
    standard: 'Standard',
    fields: 'Custom fields',
    values: 'Values',
    none: 'Only the device column',
    reset: 'Reset to default',
    done: 'Done',
    resize: (name: string) => `Drag to change the width of ${name}`,
  },
  {
    columns: 'Spalten',
    title: 'Spalten',
    note: 'Ziehen Sie Spalten, oder verschieben Sie sie mit den Pfeiltasten. Die Gerätespalte steht immer vorn.',
    moved: (name: string, place: number, of: number) =>
      `${name} an Position ${grouped(place)} von ${grouped(of)} verschoben`,
    move: (name: string) => `${name} verschieben`,
    width: (name: string) => `Breite von ${name}`,
    automatic: 'Auto',
    remove: (name: string) => `${name} ausblenden`,
    add: 'Spalte hinzufügen',
    choose: 'Auswählen…',
    standard: 'Standard',
    fields: 'Eigene Felder',
    values: 'Werte',
    none: 'Nur die Gerätespalte',
    reset: 'Auf Standard zurücksetzen',
    done: 'Fertig',
    resize: (name: string) => `Ziehen, um die Breite von ${name} zu ändern`,
  },
);
