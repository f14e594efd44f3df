// Words of the import of a Grafana dashboard.
import { plural, wordSet } from '../../../words/word-set.ts';

export const grafanaWords = wordSet(
  {
    title: 'Import from Grafana',
    drop: 'or drop a JSON file here',
    chooseFile: 'Choose file',
    importNote: 'Export the dashboard in Grafana as JSON, in the classic model.',
    otherFile: 'Choose another file',
    checking: 'Checking…',
    notJson: 'The file is not a JSON object.',
    mapped: (mapped: string, all: string, many: number) =>
      plural(many, `${mapped} of 1 panel maps.`, `${mapped} of ${all} panels map.`),
    leftOut: 'Left out',
    panel: 'Panel or part',
    untitled: 'Untitled',
    reason: 'Reason',
    more: (more: string) => `And ${more} more.`,
    create: 'Create dashboard',
    created: (name: string) => `${name} created`,
  },
  {
    title: 'Aus Grafana importieren',
    drop: 'oder JSON-Datei hier ablegen',
    chooseFile: 'Datei auswählen',
    importNote: 'Exportieren Sie das Dashboard in Grafana als JSON, im klassischen Modell.',
    otherFile: 'Andere Datei auswählen',
    checking: 'Wird geprüft…',
    notJson: 'Die Datei enthält kein JSON-Objekt.',
    mapped: (mapped: string, all: string, many: number) =>
      plural(
        many,
        `${mapped} von 1 Panel wird übernommen.`,
        `${mapped} von ${all} Panels werden übernommen.`,
      ),
    leftOut: 'Nicht übernommen',
    panel: 'Panel oder Teil',
    untitled: 'Ohne Titel',
    reason: 'Grund',
    more: (more: string) => `Und ${more} weitere.`,
    create: 'Dashboard erstellen',
    created: (name: string) => `${name} erstellt`,
  },
);
