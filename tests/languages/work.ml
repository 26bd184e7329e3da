(* SPDX-License-Identifier: GPL-2.0-or-later
   One of the programs of tests/languages/run. alpha calls a function in a loop, beta
   has a hash table and exceptions, gamma sorts by a function of the library. *)

let now = Sys.time

let[@inline never] leaf_hash x n =
  let x = ref x in
  for i = 1 to n do
    x := !x lxor (!x lsl 13);
    x := !x lxor (!x lsr 7);
    x := !x lxor (!x lsl 17);
    x := !x + i
  done;
  !x

let[@inline never] alpha x =
  let sum = ref 3 in
  for i = 1 to 60 do
    sum := !sum + leaf_hash (x + i) 33000
  done;
  !sum

let[@inline never] leaf_count x =
  let counts = Hashtbl.create 16 in
  for i = 0 to 3999 do
    let key = "k" ^ string_of_int (((x + (i * 7919)) land 0xffffff) mod 1500) in
    let old = try Hashtbl.find counts key with Not_found -> 0 in
    Hashtbl.replace counts key (old + i)
  done;
  Hashtbl.length counts

let[@inline never] beta x =
  let first = leaf_count x in
  first + leaf_count (x + 1)

let[@inline never] gamma x =
  let values = List.init 6000 (fun i -> ((i * 40503) + x) land 0xffff) in
  1 + List.length (List.sort compare values)

let () =
  let finish = if Array.length Sys.argv > 1 then float_of_string Sys.argv.(1) else 1. in
  let spent = [| 0.; 0.; 0. |] and sum = ref 1 and rounds = ref 0 in
  while now () < finish do
    List.iteri
      (fun i part ->
        let begun = now () in
        sum := !sum + part !sum;
        spent.(i) <- spent.(i) +. now () -. begun)
      [ alpha; beta; gamma ];
    incr rounds
  done;
  Printf.printf "sum %d\nalpha %f beta %f gamma %f cpu %f rounds %d\n" !sum spent.(0)
    spent.(1) spent.(2) (now ()) !rounds
