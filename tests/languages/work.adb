--  SPDX-License-Identifier: GPL-2.0-or-later
--  One of the programs of tests/languages/run. Alpha calls a function in a loop, Beta
--  has a map and texts, Gamma a generic package of the library.
with Ada.Command_Line;
with Ada.Containers.Generic_Array_Sort;
with Ada.Containers.Indefinite_Hashed_Maps;
with Ada.Execution_Time;
with Ada.Real_Time;
with Ada.Strings.Hash;
with Ada.Text_IO;
with Interfaces;

procedure Work is
   use Interfaces;

   package Maps is new Ada.Containers.Indefinite_Hashed_Maps
     (String, Natural, Ada.Strings.Hash, "=");
   type Values is array (Natural range <>) of Unsigned_32;
   procedure Sort is new Ada.Containers.Generic_Array_Sort
     (Natural, Unsigned_32, Values);

   type Parts is array (1 .. 3) of Duration;

   function Now return Duration is
      Seconds : Ada.Real_Time.Seconds_Count;
      Rest    : Ada.Real_Time.Time_Span;
   begin
      Ada.Execution_Time.Split (Ada.Execution_Time.Clock, Seconds, Rest);
      return Duration (Seconds) + Ada.Real_Time.To_Duration (Rest);
   end Now;

   function Leaf_Hash (Start : Unsigned_64; N : Unsigned_64) return Unsigned_64
   with No_Inline;
   function Alpha (X : Unsigned_64) return Unsigned_64 with No_Inline;
   function Beta (X : Unsigned_64) return Unsigned_64 with No_Inline;
   function Gamma (X : Unsigned_64) return Unsigned_64 with No_Inline;

   function Leaf_Hash (Start : Unsigned_64; N : Unsigned_64) return Unsigned_64
   is
      X : Unsigned_64 := Start;
   begin
      for I in 1 .. N loop
         X := X xor Shift_Left (X, 13);
         X := X xor Shift_Right (X, 7);
         X := X xor Shift_Left (X, 17);
         X := X + I;
      end loop;
      return X;
   end Leaf_Hash;

   function Alpha (X : Unsigned_64) return Unsigned_64 is
      Sum : Unsigned_64 := 3;
   begin
      for I in Unsigned_64 range 1 .. 60 loop
         Sum := Sum + Leaf_Hash (X + I, 33_000);
      end loop;
      return Sum;
   end Alpha;

   function Beta (X : Unsigned_64) return Unsigned_64 is
      Counts : Maps.Map;
   begin
      for I in Unsigned_64 range 1 .. 6_000 loop
         Counts.Include
           (Unsigned_64'Image ((X + I * 7_919) mod 1_500), Natural (I));
      end loop;
      return Unsigned_64 (Counts.Length);
   end Beta;

   function Gamma (X : Unsigned_64) return Unsigned_64 is
      Sorted : Values (1 .. 12_000);
   begin
      for I in Sorted'Range loop
         Sorted (I) :=
           Unsigned_32 ((Unsigned_64 (I) * 2_654_435_761 + X) mod 2 ** 32);
      end loop;
      Sort (Sorted);
      return Unsigned_64 (Sorted (7));
   end Gamma;

   Last   : Duration := 1.0;
   Spent  : Parts := (others => 0.0);
   T0, T1, T2 : Duration;
   Sum    : Unsigned_64 := 1;
   Rounds : Natural := 0;
begin
   if Ada.Command_Line.Argument_Count > 0 then
      Last := Duration'Value (Ada.Command_Line.Argument (1));
   end if;
   while Now < Last loop
      T0 := Now;
      Sum := Sum + Alpha (Sum);
      T1 := Now;
      Sum := Sum + Beta (Sum);
      T2 := Now;
      Sum := Sum + Gamma (Sum);
      Spent (1) := Spent (1) + T1 - T0;
      Spent (2) := Spent (2) + T2 - T1;
      Spent (3) := Spent (3) + Now - T2;
      Rounds := Rounds + 1;
   end loop;
   Ada.Text_IO.Put_Line ("sum" & Sum'Image);
   Ada.Text_IO.Put_Line
     ("alpha" & Spent (1)'Image & " beta" & Spent (2)'Image & " gamma" &
      Spent (3)'Image & " cpu " & Now'Image & " rounds" & Rounds'Image);
end Work;
