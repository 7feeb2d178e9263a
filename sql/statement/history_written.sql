-- How many versions are as an action wanted them: BEFORE triggers may have changed what was written.
SELECT to_jsonb(count(*))
FROM {actions} AS action
JOIN {target} AS existing
    ON {same_key}
   AND existing.{captured} = CASE action.what WHEN 'open' THEN action.valid_from ELSE action.began END
   AND existing.{delimited} IS NOT DISTINCT FROM action.valid_to
WHERE action.what IN ('open', 'close', 'reopen')
