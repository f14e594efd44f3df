// Words of the street map settings.
import { wordSet } from '../../words/word-set.ts';

export const streetMapWords = wordSet(
  {
    title: 'Street map',
    lead: 'Maps show devices on an outline of the countries, or on a street map. The choice applies to everyone in this workspace.',
    source: 'Tiles',
    sources: {
      INSTALLATION: 'Those of this installation',
      OPEN_STREET_MAP: 'OpenStreetMap',
      URL: 'Another tile server',
      FILE: 'Map file of this installation',
      NONE: 'No street map',
    },
    hints: {
      INSTALLATION: 'The tile server or map file that the operator has set up.',
      OPEN_STREET_MAP:
        'openstreetmap.org sees the addresses of your browsers and the area you look at.',
      URL: 'The server sees the addresses of your browsers and the area you look at.',
      FILE: 'Tiles come from this installation. Nothing is loaded from elsewhere.',
      NONE: 'Only the outline of the countries is shown.',
    },
    url: 'URL of a tile',
    urlHint: 'With {z}, {x} and {y} for zoom, column and row',
    attribution: 'Attribution',
    attributionHint: 'Shown on every map',
    now: {
      NONE: () => 'Maps show no streets.',
      RASTER: (tiles: string) => `Maps load ${tiles}`,
      VECTOR: () => "The map file has vector tiles, which the console doesn't draw.",
    },
    origins: (origins: string) => `Allowed servers: ${origins} (MAP_ORIGINS of this installation)`,
    noOrigins: 'This installation allows no other servers (MAP_ORIGINS).',
  },
  {
    title: 'Straßenkarte',
    lead: 'Karten zeigen Geräte auf einem Umriss der Länder oder auf einer Straßenkarte. Die Wahl gilt für alle in diesem Arbeitsbereich.',
    source: 'Kacheln',
    sources: {
      INSTALLATION: 'Die dieser Installation',
      OPEN_STREET_MAP: 'OpenStreetMap',
      URL: 'Anderer Kachelserver',
      FILE: 'Kartendatei dieser Installation',
      NONE: 'Keine Straßenkarte',
    },
    hints: {
      INSTALLATION: 'Kachelserver oder Kartendatei, die der Betreiber eingerichtet hat.',
      OPEN_STREET_MAP:
        'openstreetmap.org sieht die Adressen Ihrer Browser und den gezeigten Ausschnitt.',
      URL: 'Der Server sieht die Adressen Ihrer Browser und den gezeigten Ausschnitt.',
      FILE: 'Die Kacheln kommen von dieser Installation. Von anderswo wird nichts geladen.',
      NONE: 'Nur der Umriss der Länder wird angezeigt.',
    },
    url: 'URL einer Kachel',
    urlHint: 'Mit {z}, {x} und {y} für Zoom, Spalte und Zeile',
    attribution: 'Urheber',
    attributionHint: 'Steht auf jeder Karte',
    now: {
      NONE: () => 'Karten zeigen keine Straßen.',
      RASTER: (tiles: string) => `Karten laden ${tiles}`,
      VECTOR: () => 'Die Kartendatei hat Vektorkacheln, die die Konsole nicht zeichnet.',
    },
    origins: (origins: string) => `Erlaubte Server: ${origins} (MAP_ORIGINS dieser Installation)`,
    noOrigins: 'Diese Installation erlaubt keine anderen Server (MAP_ORIGINS).',
  },
);
