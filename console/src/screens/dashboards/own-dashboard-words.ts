// Words of dashboards on the pages of devices and places.
import { wordSet } from '../../words/word-set.ts';

export const ownDashboardWords = wordSet(
  {
    generated: (type: string) => `Generated from the schema of ${type}`,
    inferred: 'Generated from the data of this device',
    stored: (type: string) => `Dashboard of all devices of type ${type}`,
    customizeNote: (type: string) => `Creates one dashboard for all devices of type ${type}`,
    ofPlace: 'Generated from the data of the devices here',
    storedOfPlace: (kind: string) => `Dashboard of all places of kind ${kind}`,
    customizePlaceNote: (kind: string) => `Creates one dashboard for all places of kind ${kind}`,
    needsKind: 'A dashboard is stored for a kind of places. Set the kind of this place first.',
    customize: 'Customize',
    edit: 'Edit dashboard',
    foreign: 'This dashboard was created by another application',
    foreignNote: "Its format isn't supported here.",
  },
  {
    generated: (type: string) => `Aus dem Schema von ${type} erzeugt`,
    inferred: 'Aus den Daten dieses Geräts erzeugt',
    stored: (type: string) => `Dashboard aller Geräte vom Typ ${type}`,
    customizeNote: (type: string) => `Erstellt ein Dashboard für alle Geräte vom Typ ${type}`,
    ofPlace: 'Aus den Daten der Geräte an diesem Ort erzeugt',
    storedOfPlace: (kind: string) => `Dashboard aller Orte der Art ${kind}`,
    customizePlaceNote: (kind: string) => `Erstellt ein Dashboard für alle Orte der Art ${kind}`,
    needsKind:
      'Ein Dashboard gilt für eine Art von Orten. Geben Sie zuerst die Art dieses Ortes an.',
    customize: 'Anpassen',
    edit: 'Dashboard bearbeiten',
    foreign: 'Dieses Dashboard wurde mit einer anderen Anwendung erstellt',
    foreignNote: 'Sein Format wird hier nicht unterstützt.',
  },
);
