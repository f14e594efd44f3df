// Words of the alarm that is added on a chart.
import { wordSet } from '../../../words/word-set.ts';

export const addAlarmWords = wordSet(
  {
    title: (value: string) => `Add alarm: ${value}`,
    source: 'Value',
    chart: (value: string) => `${value} in the last 7 days, with the limit`,
    chartHint: 'Click the chart to set the limit, or drag the line.',
    noValues: 'No data in the last 7 days',
    limit: 'Limit',
    limitIn: (unit: string) => `Limit (${unit})`,
    triggers: 'Triggers',
    above: 'Above the limit',
    below: 'Below the limit',
    holdsFor: 'For at least (minutes)',
    holdsForHint: 'Empty: at once',
    severity: 'Severity',
    ruleAbove: (value: string, limit: string) => `${value} above ${limit}`,
    ruleBelow: (value: string, limit: string) => `${value} below ${limit}`,
    counting: 'Testing on the last 7 days…',
    wouldHave: (count: string, many: number, inAll: string) =>
      many === 0
        ? 'It would not have triggered in the last 7 days.'
        : `It would have triggered ${count} ${many === 1 ? 'time' : 'times'} in the last 7 days, ${inAll} in all.`,
    advanced: 'Advanced',
    truncated: 'Only part of the samples was tested.',
    recipients: 'Email to',
    recipientsHint: 'Separated by commas. Empty: the alarm is shown in the console only.',
    noMail: "This installation can't send email. The operator must set SMTP_URL.",
    suggested: 'Suggested recipients',
    onCall: (name: string) => `On call: ${name}`,
    create: 'Create alarm',
    created: (name: string) => `${name} created`,
  },
  {
    title: (value) => `Alarm hinzufügen: ${value}`,
    source: 'Wert',
    chart: (value) => `${value} in den letzten 7 Tagen, mit dem Grenzwert`,
    chartHint:
      'Grenzwert mit einem Klick ins Diagramm setzen oder die Linie mit der Maus verschieben.',
    noValues: 'Keine Daten in den letzten 7 Tagen',
    limit: 'Grenzwert',
    limitIn: (unit) => `Grenzwert (${unit})`,
    triggers: 'Auslösung',
    above: 'Über dem Grenzwert',
    below: 'Unter dem Grenzwert',
    holdsFor: 'Mindestens (Minuten)',
    holdsForHint: 'Leer: sofort',
    severity: 'Schweregrad',
    ruleAbove: (value, limit) => `${value} über ${limit}`,
    ruleBelow: (value, limit) => `${value} unter ${limit}`,
    counting: 'Test mit den letzten 7 Tagen…',
    wouldHave: (count, many, inAll) =>
      many === 0
        ? 'Er hätte in den letzten 7 Tagen nicht ausgelöst.'
        : `Er hätte in den letzten 7 Tagen ${count}-mal ausgelöst, insgesamt ${inAll}.`,
    advanced: 'Erweitert',
    truncated: 'Nur ein Teil der Messwerte wurde getestet.',
    recipients: 'E-Mail an',
    recipientsHint: 'Durch Kommas getrennt. Leer: Der Alarm erscheint nur in der Konsole.',
    noMail: 'Diese Installation kann keine E-Mails senden. Der Betreiber muss SMTP_URL setzen.',
    suggested: 'Vorgeschlagene Empfänger',
    onCall: (name) => `Bereitschaft: ${name}`,
    create: 'Alarm erstellen',
    created: (name) => `${name} erstellt`,
  },
);
