// Download dialog: the dashboard as PDF, or a tile as CSV, with the range and values that are shown.
import { Download } from 'lucide-react';
import { useState } from 'react';
import { ask, platform } from '../../../api/platform.ts';
import { ActionFailure } from '../../../ui/action-failure.tsx';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { SelectField } from '../../../ui/field.tsx';
import { useAction } from '../../../ui/use-action.ts';
import { useWords } from '../../../words/language.tsx';
import type { Configuration } from '../../../../../src/dashboards/configuration.ts';
import type { VariableValues } from '../../../../../src/dashboards/variables.ts';
import type { DashboardSearch } from '../dashboard-search.ts';
import { intervalShown } from '../data/dashboard-range.ts';
import { kindsWithValues } from '../tiles/tile-menu.tsx';
import { downloadWords } from './report-words.ts';

interface DownloadDialogProps {
  readonly dashboard: { readonly id: string; readonly name: string };
  readonly configuration: Configuration;
  readonly search: DashboardSearch;
  readonly values: VariableValues;
  readonly zone: string;
  /** Chosen at first. */
  readonly tileId?: string | undefined;
  readonly close: () => void;
}

export function DownloadDialog(props: DownloadDialogProps) {
  const { dashboard, configuration, search, values, zone, tileId, close } = props;
  const words = useWords(downloadWords);
  const tiles = configuration.tiles.filter(({ kind }) => kindsWithValues.has(kind));
  const [tile, setTile] = useState(tileId ?? tiles[0]?.id ?? '');
  const download = useAction({
    mutationFn: async (format: 'pdf' | 'csv') => {
      const { fromMs, toMs } = intervalShown(search, configuration, Date.now());
      const range = { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
      const query = { format, ...range, timeZone: zone, ...(format === 'csv' && { tile }) };
      const file = await ask(
        platform.GET('/v3/dashboards/{id}/render', {
          params: { path: { id: dashboard.id }, query },
          parseAs: 'blob',
          querySerializer: (named) => queryOf(named, values),
        }),
      );
      keep(`${dashboard.name}.${format}`, file);
    },
  });
  const isBusy = download.isPending;
  return (
    <Dialog title={words.title(dashboard.name)} close={close}>
      <p className="mute">{words.lead}</p>
      <div>
        <Button disabled={isBusy} onClick={() => download.mutate('pdf')}>
          <Download aria-hidden="true" />
          {words.pdf}
        </Button>
      </div>
      {tiles.length === 0 ? (
        <p className="mute">{words.noTiles}</p>
      ) : (
        <>
          <SelectField
            label={words.tile}
            value={tile}
            onChange={({ target }) => setTile(target.value)}
          >
            {tiles.map(({ id, title }) => (
              <option key={id} value={id}>
                {title === undefined || title === '' || title === null ? id : title}
              </option>
            ))}
          </SelectField>
          <div>
            <Button disabled={isBusy} onClick={() => download.mutate('csv')}>
              <Download aria-hidden="true" />
              {words.csv}
            </Button>
          </div>
        </>
      )}
      <p role="status" className="mute">
        {isBusy ? words.busy : ''}
      </p>
      <ActionFailure error={download.error} />
    </Dialog>
  );
}

/** The parameters of the request, with `var.NAME` for each value of a variable. */
function queryOf(named: object, values: VariableValues): string {
  const query = new URLSearchParams(Object.entries(named) as [string, string][]);
  for (const [name, chosen] of values)
    for (const value of chosen) query.append(`var.${name}`, value);
  return query.toString();
}

function keep(name: string, file: unknown): void {
  if (!(file instanceof Blob)) throw new Error('The answer is no file');
  const address = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
