// Columns of an import: which one fills which field, and what holds for all devices of the file.
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { SelectField } from '../../parts/field.tsx';
import { useWords } from '../../words/language.tsx';
import styles from './devices.module.css';
import { type ImportFile, importFields } from './import-file.ts';
import { importWords } from './import-words.ts';
import { useFlows } from './move-dialog.tsx';
import type { Import, ImportSettings } from './use-import.ts';

interface ImportColumnsProps {
  readonly file: ImportFile;
  readonly settings: ImportSettings;
  readonly change: (settings: ImportSettings) => void;
  readonly customFields: readonly string[];
  readonly importing: Import;
  readonly another: () => void;
}

export function ImportColumns(props: ImportColumnsProps) {
  const { file, settings, change, customFields, importing, another } = props;
  const words = useWords(importWords);
  const fields = [...importFields, ...customFields.map((name) => `customFields.${name}`)];
  const map = (field: string, column: string) => {
    const place = column === '' ? undefined : Number(column);
    change({ ...settings, mapping: { ...settings.mapping, [field]: place } });
  };
  return (
    <Card title={file.name} note={words.columnsNote} isPadded>
      <div className={styles['columns']}>
        {fields.map((field) => (
          <SelectField
            key={field}
            label={labelOf(field, words)}
            hint={exampleOf(file, settings.mapping[field])}
            value={settings.mapping[field] ?? ''}
            onChange={(event) => map(field, event.target.value)}
          >
            <option value="">{words.none}</option>
            {file.columns.map((column, at) => (
              // oxlint-disable-next-line react/no-array-index-key -- two columns may have one name
              <option key={at} value={at}>
                {column}
              </option>
            ))}
          </SelectField>
        ))}
        <AllDevices settings={settings} change={change} />
      </div>
      <div className={styles['formEnd']}>
        <Button onClick={another}>{words.otherFile}</Button>
        <Button
          look="primary"
          disabled={importing.isChecking}
          onClick={() => void importing.check(file.rows, settings)}
        >
          {importing.isChecking ? words.checking : words.check}
        </Button>
      </div>
    </Card>
  );
}

function AllDevices({ settings, change }: Pick<ImportColumnsProps, 'settings' | 'change'>) {
  const words = useWords(importWords);
  const flows = useFlows(settings.workspaceId).data?.content ?? [];
  const { mapping, defaults, mode } = settings;
  return (
    <>
      {mapping['dataFlow'] === undefined && (
        <SelectField
          label={words.flowDefault}
          value={defaults['dataFlow'] ?? ''}
          onChange={(event) => change({ ...settings, defaults: { dataFlow: event.target.value } })}
        >
          <option value="">{words.none}</option>
          {flows.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </SelectField>
      )}
      <SelectField
        label={words.mode}
        value={mode}
        onChange={(event) =>
          change({ ...settings, mode: event.target.value === 'upsert' ? 'upsert' : 'create' })
        }
      >
        <option value="create">{words.refuse}</option>
        <option value="upsert">{words.update}</option>
      </SelectField>
    </>
  );
}

export function labelOf(field: string, { fields }: typeof importWords.en): string {
  const known = importFields.find((one) => one === field);
  return known === undefined ? field.replace(/^customFields\./, '') : fields[known];
}

function exampleOf({ rows }: ImportFile, column: number | undefined): string {
  return column === undefined ? '–' : (rows[0]?.cells[column] ?? '–') || '–';
}
