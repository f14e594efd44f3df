// Report form: when a dashboard is mailed, to whom, and with which files.
import { useState } from 'react';
import type { components } from '../../../../generated/interface-types.ts';
import { ask, platform } from '../../../api/platform.ts';
import { FormDialog } from '../../../ui/dialog.tsx';
import { CheckField, SelectField, TextArea, TextField, toggled } from '../../../ui/field.tsx';
import { toast } from '../../../ui/toasts.tsx';
import { useAction } from '../../../ui/use-action.ts';
import { localeOf } from '../../../words/formats.ts';
import { useLanguage, useWords } from '../../../words/language.tsx';
import { weekdayNames, zoneNames } from '../../../words/zone-times.ts';
import { weekdays } from '../../../../../src/model/time-zone.ts';
import { reportFormats, reportIntervals } from '../../../../../src/model/report.ts';
import type { ShownVariables } from '../variable-values.ts';
import { reportWords } from './report-words.ts';
import styles from './reports.module.css';

export type Report = components['schemas']['Report'];

interface ReportFormProps {
  readonly dashboard: {
    readonly id: string;
    readonly name: string;
    readonly workspaceId: string;
  };
  /** Undefined for a new one. */
  readonly report: Report | undefined;
  readonly variables: ShownVariables;
  readonly zone: string;
  readonly saved: () => Promise<unknown>;
  readonly close: () => void;
}

export function ReportForm(props: ReportFormProps) {
  const { dashboard, report, variables, zone, saved, close } = props;
  const words = useWords(reportWords);
  const { language } = useLanguage();
  const [name, setName] = useState(report?.name ?? dashboard.name);
  const [schedule, setSchedule] = useState<Report['schedule']>(
    report?.schedule ?? { every: 'WEEKLY', at: '07:00', weekday: 'MO', timeZone: zone },
  );
  const [recipients, setRecipients] = useState((report?.recipients ?? []).join('\n'));
  const [formats, setFormats] = useState<Report['formats']>(report?.formats ?? ['PDF']);
  const [isActive, setActive] = useState(report?.active ?? true);
  const addresses = recipients.split(/[\s,;]+/).filter((one) => one !== '');
  const save = useAction({
    mutationFn: async () => {
      const { id: dashboardId, workspaceId } = dashboard;
      const body = {
        name,
        dashboardId,
        schedule,
        recipients: addresses,
        formats,
        active: isActive,
      };
      const values = Object.fromEntries(
        [...variables.values].map(([variable, chosen]) => [variable, [...chosen]]),
      );
      if (report === undefined) {
        const draft = { ...body, workspaceId, variables: values };
        return ask(platform.POST('/v3/reports', { body: draft }));
      }
      const params = { path: { id: report.id } };
      // Values of another dashboard have other names.
      const kept = report.dashboardId === dashboardId ? {} : { variables: values };
      const sent = { ...body, ...kept, version: report.version };
      return ask(platform.PUT('/v3/reports/{id}', { params, body: sent }));
    },
    async onSuccess() {
      await saved();
      toast(words.saved);
      close();
    },
  });
  const { every, weekday = 'MO', day = 1, at, timeZone } = schedule;
  /** Only the day that the interval has. */
  const onInterval = (next: Report['schedule']['every']) =>
    setSchedule({
      every: next,
      at,
      timeZone,
      ...(next === 'WEEKLY' && { weekday }),
      ...(next === 'MONTHLY' && { day }),
    });
  const zones = [...new Set([timeZone, 'UTC', ...zoneNames])];
  const names = weekdayNames(localeOf(language));
  const chosen = variables.variables.flatMap((variable) => {
    const shown = (variables.values.get(variable.name) ?? []).map((value) =>
      variables.nameOf(variable, value),
    );
    return shown.length === 0 ? [] : [`${variable.label ?? variable.name}: ${shown.join(', ')}`];
  });
  return (
    <FormDialog
      title={report === undefined ? words.newTitle : words.edit(report.name)}
      submitLabel={report === undefined ? words.create : words.save}
      isBusy={save.isPending}
      isIncomplete={name.trim() === '' || addresses.length === 0}
      error={save.error}
      submit={() => save.mutate()}
      close={close}
    >
      <TextField
        label={words.name}
        value={name}
        maxLength={500}
        autoFocus
        autoComplete="off"
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <div className={styles['row']}>
        <SelectField
          label={words.every}
          value={every}
          onChange={({ currentTarget: { value } }) =>
            onInterval(reportIntervals.find((one) => one === value) ?? every)
          }
        >
          {reportIntervals.map((one) => (
            <option key={one} value={one}>
              {words.intervals[one]}
            </option>
          ))}
        </SelectField>
        {every === 'WEEKLY' && (
          <SelectField
            label={words.weekday}
            value={weekday}
            onChange={({ currentTarget: { value } }) =>
              setSchedule({ ...schedule, weekday: weekdays.find((one) => one === value) ?? 'MO' })
            }
          >
            {weekdays.map((one, place) => (
              <option key={one} value={one}>
                {names[place]}
              </option>
            ))}
          </SelectField>
        )}
        {every === 'MONTHLY' && (
          <TextField
            label={words.day}
            hint={words.dayHint}
            type="number"
            min={1}
            max={31}
            required
            value={day}
            onChange={({ currentTarget }) =>
              setSchedule({ ...schedule, day: currentTarget.valueAsNumber || 1 })
            }
          />
        )}
        <TextField
          label={words.at}
          type="time"
          required
          value={at}
          onChange={({ currentTarget }) => setSchedule({ ...schedule, at: currentTarget.value })}
        />
      </div>
      <SelectField
        label={words.zone}
        value={timeZone}
        onChange={({ currentTarget }) =>
          setSchedule({ ...schedule, timeZone: currentTarget.value })
        }
      >
        {zones.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </SelectField>
      <TextArea
        label={words.recipients}
        hint={words.recipientsHint}
        rows={4}
        value={recipients}
        onChange={({ currentTarget }) => setRecipients(currentTarget.value)}
      />
      <fieldset>
        <legend className="text-label">{words.files}</legend>
        {reportFormats.map((one) => (
          <CheckField
            key={one}
            label={words.formats[one]}
            isOn={formats.includes(one)}
            change={(isOn) => setFormats(toggled(formats, one, isOn))}
          />
        ))}
      </fieldset>
      {report === undefined && chosen.length > 0 && (
        <p className="mute">{words.values(chosen.join('; '))}</p>
      )}
      <CheckField label={words.active} isOn={isActive} change={setActive} />
    </FormDialog>
  );
}
