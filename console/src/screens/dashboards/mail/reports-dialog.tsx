// Reports dialog: the reports that mail a dashboard, to create, change, send and delete.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Pencil, Plus, Send, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { aboutQuery, ask, platform } from '../../../api/platform.ts';
import { ActionFailure } from '../../../ui/action-failure.tsx';
import { Button, IconButton } from '../../../ui/button.tsx';
import { Chip } from '../../../ui/chip.tsx';
import { ConfirmDialog, Dialog, FormDialog } from '../../../ui/dialog.tsx';
import { Answered, Bone } from '../../../ui/states.tsx';
import { toast } from '../../../ui/toasts.tsx';
import { useAction } from '../../../ui/use-action.ts';
import { useFormats, useLanguage, useWords } from '../../../words/language.tsx';
import type { ShownVariables } from '../variable-values.ts';
import { reportWords } from './report-words.ts';
import styles from './reports.module.css';
import type { components } from '../../../../generated/interface-types.ts';
import { CheckField, SelectField, TextArea, TextField, toggled } from '../../../ui/field.tsx';
import { localeOf } from '../../../words/formats.ts';
import { weekdayNames, zoneNames } from '../../../words/zone-times.ts';
import { weekdays } from '../../../../../src/model/time-zone.ts';
import { reportFormats, reportIntervals } from '../../../../../src/model/report.ts';

interface ReportsDialogProps {
  readonly dashboard: {
    readonly id: string;
    readonly name: string;
    readonly workspaceId: string;
  };
  readonly variables: ShownVariables;
  readonly zone: string;
  readonly close: () => void;
}

/** A workspace has no more. */
const reportsMax = 100;

const reportsKey = (workspaceId: string) => ['reports', workspaceId];

/** One whose dashboard is deleted is shown with every dashboard, which it can be saved for. */
function isOrphan({ active, problem }: Report): boolean {
  return !active && problem?.reason === 'DASHBOARD_DELETED';
}

export function ReportsDialog({ dashboard, variables, zone, close }: ReportsDialogProps) {
  const words = useWords(reportWords);
  const client = useQueryClient();
  const [open, setOpen] = useState<Report | 'new'>();
  const { id: dashboardId, name, workspaceId } = dashboard;
  const canSend = useQuery(aboutQuery).data?.features.mail;
  const query = { workspaceId, size: reportsMax, sort: 'name,asc' };
  const answer = useQuery({
    queryKey: reportsKey(workspaceId),
    queryFn: async ({ signal }) => {
      const { content } = await ask(platform.GET('/v3/reports', { signal, params: { query } }));
      return content.filter((report) => report.dashboardId === dashboardId || isOrphan(report));
    },
  });
  const changed = () => client.invalidateQueries({ queryKey: reportsKey(workspaceId) });
  return (
    <Dialog
      title={words.title(name)}
      isWide
      close={close}
      footer={
        <Button
          look="primary"
          needs="dashboard: create"
          disabled={canSend === false}
          onClick={() => setOpen('new')}
        >
          <Plus aria-hidden="true" />
          {words.add}
        </Button>
      }
    >
      <p className="mute">{canSend === false ? words.noMail : words.lead}</p>
      <Answered
        answer={answer}
        curl={{ path: `/v3/reports?workspaceId=${workspaceId}` }}
        skeleton={<Bone width="16em" />}
      >
        {(reports) =>
          reports.length === 0 ? (
            <p className="mute">{words.none}</p>
          ) : (
            <ul className={styles['reports']}>
              {reports.map((report) => (
                <ReportRow
                  key={report.id}
                  report={report}
                  edit={() => setOpen(report)}
                  changed={changed}
                />
              ))}
            </ul>
          )
        }
      </Answered>
      {open !== undefined && (
        <ReportForm
          dashboard={dashboard}
          report={open === 'new' ? undefined : open}
          variables={variables}
          zone={zone}
          saved={changed}
          close={() => setOpen(undefined)}
        />
      )}
    </Dialog>
  );
}

interface ReportRowProps {
  readonly report: Report;
  readonly edit: () => void;
  readonly changed: () => Promise<unknown>;
}

function ReportRow({ report, edit, changed }: ReportRowProps) {
  const words = useWords(reportWords);
  const formats = useFormats();
  const [isAsked, setAsked] = useState(false);
  const { id, name, active, nextRun, recipients, schedule, problem } = report;
  const params = { path: { id } };
  const send = useAction({
    mutationFn: () => ask(platform.POST('/v3/reports/{id}/send', { params })),
    onSuccess: ({ deliveryIds }) => toast(words.sent(deliveryIds.length)),
    onSettled: changed,
  });
  const remove = useAction({
    mutationFn: () => ask(platform.DELETE('/v3/reports/{id}', { params })),
    onSuccess() {
      toast(words.deleted);
      return changed();
    },
  });
  return (
    <li aria-label={name}>
      <div className={styles['about']}>
        <strong>{name}</strong>
        <span className="mute">
          {words.intervals[schedule.every]} · {words.recipientsCount(recipients.length)}
        </span>
        {active && nextRun !== null ? (
          <span className="mute">
            {words.next}: {formats.instant(nextRun, schedule.timeZone)} ({schedule.timeZone})
          </span>
        ) : (
          <Chip>{words.off}</Chip>
        )}
        {problem !== null && (
          <span className={styles['problem']} title={problem.message}>
            {words.problems[problem.reason]}
          </span>
        )}
        <ActionFailure error={send.error} />
      </div>
      <div className={styles['acts']}>
        <Button needs="dashboard: update" disabled={send.isPending} onClick={() => send.mutate()}>
          <Send aria-hidden="true" />
          {send.isPending ? words.sending : words.sendNow}
        </Button>
        <IconButton
          label={words.edit(name)}
          icon={Pencil}
          needs="dashboard: update"
          onClick={edit}
        />
        <IconButton
          label={`${words.remove} ${name}`}
          icon={Trash2}
          needs="dashboard: delete"
          onClick={() => setAsked(true)}
        />
      </div>
      {isAsked && (
        <ConfirmDialog
          title={words.removeTitle(name)}
          note={words.removeNote}
          confirmLabel={words.remove}
          cancelLabel={words.cancel}
          isBusy={remove.isPending}
          error={remove.error}
          confirm={() => remove.mutate()}
          close={() => setAsked(false)}
        />
      )}
    </li>
  );
}

// Report form: when a dashboard is mailed, to whom, and with which files.

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
