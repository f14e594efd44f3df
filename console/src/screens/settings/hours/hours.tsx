// Working hours: a week of bars and numbers, public holidays by region, and own days off (contract 3).
import { faultAt, faultsOf } from '../../../api/field-faults.ts';
import { Card } from '../../../parts/card.tsx';
import { CheckField } from '../../../parts/check-field.tsx';
import { UnsavedBar } from '../../../parts/unsaved-bar.tsx';
import { useFormats, useWords } from '../../../words/language.tsx';
import { SettingsFrame, WithWorkspace } from '../settings-frame.tsx';
import styles from '../settings.module.css';
import { settingsWords } from '../settings-words.ts';
import { useWorkspaceEditor, type Workspace } from '../workspace-requests.ts';
import { HolidayInputs } from './holiday-inputs.tsx';
import { type HoursDraft, hoursDraftOf, hoursUpdateOf, regionOf } from './hours-draft.ts';
import { totalHours } from './week.ts';
import { WeekBars } from './week-bars.tsx';

export function Hours() {
  return (
    <SettingsFrame tab="hours" curl={(id) => ({ path: `/v3/workspaces/${id}` })}>
      <WithWorkspace>
        {(workspace) => <HoursOf key={workspace.id} workspace={workspace} />}
      </WithWorkspace>
    </SettingsFrame>
  );
}

function HoursOf({ workspace }: { readonly workspace: Workspace }) {
  const words = useWords(settingsWords);
  const editor = useWorkspaceEditor({
    workspace,
    part: 'hours',
    saved: hoursDraftOf(workspace),
    updateOf: hoursUpdateOf,
  });
  const { value } = useFormats();
  const draft = editor.value;
  const change = (part: Partial<HoursDraft>) => editor.change({ ...draft, ...part });
  const faults = faultsOf(editor.error);
  const regionFault = faultAt(faults, 'settings.holidayRegion');
  // What is typed since then was not refused.
  const shownFault =
    regionFault?.includes(`${regionOf(draft)};`) === true ? regionFault : undefined;
  return (
    <div key={editor.edition} className={styles['cards']}>
      <Card
        title={words.tabs.hours}
        note={draft.isEnabled ? words.hoursAWeek(value(totalHours(draft.week))) : undefined}
        isPadded
      >
        <div className={styles['wideForm']}>
          <CheckField
            label={words.hoursOn}
            hint={words.hoursHint(workspace.settings.timezone ?? 'UTC')}
            isOn={draft.isEnabled}
            change={(isEnabled) => change({ isEnabled })}
          />
          {draft.isEnabled && <WeekBars week={draft.week} change={(week) => change({ week })} />}
        </div>
      </Card>
      <Card title={words.holidays} isPadded>
        <HolidayInputs draft={draft} change={change} regionFault={shownFault} />
      </Card>
      <UnsavedBar needs="workspace: update" editor={editor} isSticky />
    </div>
  );
}
